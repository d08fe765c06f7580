import java.sql.DriverManager;
import java.sql.ResultSet;

/** The JDBC driver against the PostgreSQL port: its metadata calls, prepared statements beyond the fifth execution, fetch size. */
public class PostgresClient {
  public static void main(String[] arguments) throws Exception {
    var at = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
    try (var connection = DriverManager.getConnection(at, System.getenv("PGUSER"), System.getenv("PGPASSWORD"))) {
      var metadata = connection.getMetaData();
      check("schemas", has(metadata.getSchemas(), "TABLE_SCHEM", "in.c-main"));
      check("tables", has(metadata.getTables(null, "in.c-main", "%", null), "TABLE_NAME", "orders"));
      check("columns", metadata.getColumns(null, "in.c-main", "orders", "%").next());
      metadata.getPrimaryKeys(null, "in.c-main", "orders").close();
      try (var statement = connection.prepareStatement("SELECT ?::INTEGER, count(*) FROM \"in.c-main\".orders")) {
        for (int i = 0; i < 8; i++) {
          statement.setInt(1, i);
          var rows = statement.executeQuery();
          check("prepared, execution " + (i + 1), rows.next() && rows.getInt(1) == i && rows.getLong(2) > 0);
        }
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
