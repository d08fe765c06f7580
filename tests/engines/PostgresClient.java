import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;

/** The JDBC driver against the PostgreSQL port: its metadata calls, prepared statements beyond the fifth execution, fetch size. */
public class PostgresClient {
  public static void main(String[] arguments) throws Exception {
    var at = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
    try (var connection = DriverManager.getConnection(at, System.getenv("PGUSER"), System.getenv("PGPASSWORD"))) {
      var metadata = connection.getMetaData();
      check("schemas", has(metadata.getSchemas(), "TABLE_SCHEM", "in.c-main"));
      check("tables", has(metadata.getTables(null, "in.c-main", "%", null), "TABLE_NAME", "orders"));
      check("columns", metadata.getColumns(null, "in.c-main", "orders", "%").next());
      // What DBeaver and BI tools ask when they connect and open their tree.
      check("catalogues", has(metadata.getCatalogs(), "TABLE_CAT", System.getenv("PGDATABASE")));
      for (var rows : new ResultSet[] {
        metadata.getSchemas(connection.getCatalog(), "in%"), metadata.getTableTypes(), metadata.getTypeInfo(),
        metadata.getPrimaryKeys(null, "in.c-main", "orders"), metadata.getImportedKeys(null, "in.c-main", "orders"),
        metadata.getExportedKeys(null, "in.c-main", "orders"), metadata.getIndexInfo(null, "in.c-main", "orders", false, true),
        metadata.getBestRowIdentifier(null, "in.c-main", "orders", 0, true), metadata.getFunctions(null, null, "abs"),
        metadata.getProcedures(null, null, "%"), metadata.getUDTs(null, null, "%", null),
        metadata.getTablePrivileges(null, "in.c-main", "orders"), metadata.getColumnPrivileges(null, "in.c-main", "orders", "%")
      }) rows.close();
      check("metadata", metadata.getSQLKeywords().length() > 0 && connection.isValid(5));
      for (var sql : new String[] {
        "SET application_name = 'DBeaver'", "SHOW search_path", "SELECT current_schema(), session_user",
        "SELECT db.oid, db.* FROM pg_catalog.pg_database db WHERE datname = '" + System.getenv("PGDATABASE") + "'",
        "SELECT * FROM pg_catalog.pg_settings WHERE name = 'standard_conforming_strings'",
        "SELECT c.oid, c.*, d.description FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.classoid = 'pg_class'::regclass"
      })
        try (var statement = connection.createStatement()) {
          check(sql, !statement.execute(sql) || statement.getResultSet().next());
        }
      try (var statement = connection.prepareStatement("SELECT ?::INTEGER, count(*) FROM \"in.c-main\".orders")) {
        for (int i = 0; i < 8; i++) {
          statement.setInt(1, i);
          var rows = statement.executeQuery();
          check("prepared, execution " + (i + 1), rows.next() && rows.getInt(1) == i && rows.getLong(2) > 0);
        }
      }
      var copied = new java.io.ByteArrayOutputStream();
      var copy = new org.postgresql.copy.CopyManager((org.postgresql.core.BaseConnection) connection);
      check("copy", copy.copyOut("COPY (SELECT * FROM range(5)) TO STDOUT", copied) == 5);
      try (var statement = connection.createStatement()) {
        statement.setQueryTimeout(1);
        statement.executeQuery("SELECT count(*) FROM range(1000000000000) t(i) WHERE hash(i) = 1");
        check("query timeout", false);
      } catch (SQLException error) {
        check("query timeout", "57014".equals(error.getSQLState()));
      }
      connection.setAutoCommit(false);
      try (var statement = connection.createStatement()) {
        statement.setFetchSize(100);
        var rows = statement.executeQuery("SELECT i FROM range(1000) t(i)");
        int count = 0;
        while (rows.next()) count++;
        check("fetch size", count == 1000);
      }
      connection.commit();
    }
  }

  static boolean has(ResultSet rows, String column, String value) throws Exception {
    while (rows.next()) if (value.equals(rows.getString(column))) return true;
    return false;
  }

  static void check(String what, boolean isRight) {
    if (!isRight) throw new AssertionError(what);
    System.out.println("ok " + what);
  }
}
