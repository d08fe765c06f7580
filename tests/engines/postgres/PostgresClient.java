import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;

/** The JDBC driver against the PostgreSQL port: its metadata calls, prepared statements beyond the fifth execution, fetch size. */
public class PostgresClient {
  public static void main(String[] arguments) throws Exception {
    var server = "jdbc:postgresql://127.0.0.1:" + System.getenv("MILLRACE_PORT") + "/";
    read(server + "default");
    write(server + "workspace?autosave=always");
  }

  static void read(String at) throws Exception {
    try (var connection = DriverManager.getConnection(at, "me", System.getenv("MILLRACE_TOKEN"))) {
      var metadata = connection.getMetaData();
      check("schemas", has(metadata.getSchemas(), "TABLE_SCHEM", "in.c-main"));
      check("tables", has(metadata.getTables(null, "in.c-main", "%", null), "TABLE_NAME", "orders"));
      check("columns", metadata.getColumns(null, "in.c-main", "orders", "%").next());
      // What DBeaver and BI tools ask when they connect and open their tree.
      check("catalogues", has(metadata.getCatalogs(), "TABLE_CAT", "default"));
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
        "SELECT db.oid, db.* FROM pg_catalog.pg_database db WHERE datname = '" + "default" + "'",
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

  static void write(String at) throws Exception {
    try (var connection = DriverManager.getConnection(at, System.getenv("MILLRACE_USER"), System.getenv("MILLRACE_PASSWORD"))) {
      connection.createStatement().execute("CREATE TABLE jd (id INTEGER, name TEXT, data BYTEA, at_time TIMESTAMP)");
      connection.setAutoCommit(false);
      byte[] bytes = new byte[256];
      for (int i = 0; i < 256; i++) bytes[i] = (byte) i;
      var moment = java.time.LocalDateTime.of(2026, 2, 28, 1, 2, 3);
      try (var insert = connection.prepareStatement("INSERT INTO jd VALUES (?, ?, ?, ?)")) {
        for (int i = 0; i < 20; i++) {
          insert.setInt(1, i);
          insert.setString(2, "n" + i);
          insert.setBytes(3, bytes);
          insert.setObject(4, moment);
          insert.addBatch();
        }
        check("batch", insert.executeBatch().length == 20);
      }
      // With autosave=always a statement that fails leaves the transaction as it was.
      try (var statement = connection.createStatement()) {
        statement.execute("SELECT nothing");
        check("autosave", false);
      } catch (SQLException error) {
        check("autosave", "42703".equals(error.getSQLState()));
      }
      var point = connection.setSavepoint();
      connection.createStatement().execute("DELETE FROM jd WHERE id = 1");
      connection.rollback(point);
      connection.commit();
      try (var select = connection.prepareStatement("SELECT data, at_time FROM jd WHERE id = ANY(?)")) {
        select.setArray(1, connection.createArrayOf("integer", new Integer[] {1}));
        var rows = select.executeQuery();
        check("written", rows.next() && java.util.Arrays.equals(rows.getBytes(1), bytes) && moment.equals(rows.getObject(2, java.time.LocalDateTime.class)));
      }
      var copy = new org.postgresql.copy.CopyManager((org.postgresql.core.BaseConnection) connection);
      check("copy in", copy.copyIn("COPY jd (id, name) FROM STDIN (FORMAT csv)", new java.io.StringReader("100,x\n101,\n")) == 2);
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
