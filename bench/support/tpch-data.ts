// The eight tables of TPC-H, filled by DuckDB from numbers that are hashed: the same scale gives the same rows everywhere. Keys, ranges, dates
// and words are those that the 22 queries look for; texts that no query reads are short.

import type { DuckDBConnection } from '@duckdb/node-api'

export interface TpchColumn {
  readonly name: string
  readonly type: 'INTEGER' | 'NUMERIC' | 'DATE' | 'STRING'
}

const columns = (text: string): TpchColumn[] =>
  text.split(' ').map((column) => {
    const [name = '', kind = ''] = column.split(':')
    return { name, type: ({ i: 'INTEGER', n: 'NUMERIC', d: 'DATE' } as const)[kind] ?? 'STRING' }
  })

export const TPCH_TABLES: Readonly<Record<string, readonly TpchColumn[]>> = {
  region: columns('r_regionkey:i r_name r_comment'),
  nation: columns('n_nationkey:i n_name n_regionkey:i n_comment'),
  supplier: columns('s_suppkey:i s_name s_address s_nationkey:i s_phone s_acctbal:n s_comment'),
  customer: columns('c_custkey:i c_name c_address c_nationkey:i c_phone c_acctbal:n c_mktsegment c_comment'),
  part: columns('p_partkey:i p_name p_mfgr p_brand p_type p_size:i p_container p_retailprice:n p_comment'),
  partsupp: columns('ps_partkey:i ps_suppkey:i ps_availqty:i ps_supplycost:n ps_comment'),
  orders: columns(
    'o_orderkey:i o_custkey:i o_orderstatus o_totalprice:n o_orderdate:d o_orderpriority o_clerk o_shippriority:i o_comment',
  ),
  lineitem: columns(
    'l_orderkey:i l_partkey:i l_suppkey:i l_linenumber:i l_quantity:n l_extendedprice:n l_discount:n l_tax:n l_returnflag l_linestatus l_shipdate:d l_commitdate:d l_receiptdate:d l_shipinstruct l_shipmode l_comment',
  ),
}

const list = (words: string): string => `[${words.split(' ').map((word) => `'${word.replaceAll('_', ' ')}'`)}]`

const NATIONS =
  'ALGERIA:0 ARGENTINA:1 BRAZIL:1 CANADA:1 EGYPT:4 ETHIOPIA:0 FRANCE:3 GERMANY:3 INDIA:2 INDONESIA:2 IRAN:4 IRAQ:4 JAPAN:2 JORDAN:4 KENYA:0 MOROCCO:0 MOZAMBIQUE:0 PERU:1 CHINA:2 ROMANIA:3 SAUDI_ARABIA:4 VIETNAM:2 RUSSIA:3 UNITED_KINGDOM:3 UNITED_STATES:1'
const COLORS = list(
  'almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood chartreuse chiffon chocolate coral cornflower cream cyan dark forest frosted gainsboro ghost goldenrod green grey honeydew hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic midnight mint misty moccasin navajo navy olive',
)
const WORDS = list(
  'carefully quickly special furiously pending slyly requests deposits accounts packages ideas regular express final unusual',
)

/** Makes the tables in the connection's database. */
export async function makeTpch(connection: DuckDBConnection, scale: number): Promise<void> {
  const count = (atOne: number): number => Math.max(10, Math.round(atOne * scale))
  const [suppliers, customers, parts, orders] = [count(10_000), count(150_000), count(200_000), count(1_500_000)]
  const run = (sql: string) => connection.run(sql)
  // A number below n; salt distinguishes the columns of a row.
  await run('CREATE MACRO r(i, salt, n) AS (hash(i::BIGINT * 64 + salt) % n)::BIGINT')
  await run('CREATE MACRO pick(i, salt, words) AS words[r(i, salt, len(words)) + 1]')
  await run('CREATE MACRO money(i, salt, least, most) AS ((least + r(i, salt, most - least)) / 100.0)::DECIMAL(12, 2)')
  await run(
    `CREATE MACRO phrase(i, salt) AS pick(i, salt, ${WORDS}) || ' ' || pick(i, salt + 1, ${WORDS}) || ' ' || pick(i, salt + 2, ${WORDS})`,
  )
  await run(
    `CREATE MACRO phone(i, nation) AS format('{}-{:03d}-{:03d}-{:04d}', nation + 10, r(i, 50, 900) + 100, r(i, 51, 900) + 100, r(i, 52, 9000) + 1000)`,
  )

  await run(`CREATE TABLE region AS SELECT i AS r_regionkey, ${list('AFRICA AMERICA ASIA EUROPE MIDDLE_EAST')}[i + 1] AS r_name,
    phrase(i, 1) AS r_comment FROM range(5) t(i)`)
  await run(`CREATE TABLE nation AS SELECT i - 1 AS n_nationkey, split_part(nation, ':', 1) AS n_name,
    split_part(nation, ':', 2)::BIGINT AS n_regionkey, phrase(i, 1) AS n_comment
    FROM (SELECT unnest(${list(NATIONS)}) AS nation, generate_subscripts(${list(NATIONS)}, 1)::BIGINT AS i)`)
  await run(`CREATE TABLE supplier AS SELECT i AS s_suppkey, format('Supplier#{:09d}', i) AS s_name, 'address ' || r(i, 1, 9999) AS s_address,
    r(i, 2, 25) AS s_nationkey, phone(i, r(i, 2, 25)) AS s_phone, money(i, 3, -99999, 999999) AS s_acctbal,
    CASE WHEN r(i, 4, 200) = 0 THEN 'Customer said Complaints' ELSE phrase(i, 5) END AS s_comment FROM range(1, ${suppliers} + 1) t(i)`)
  await run(`CREATE TABLE customer AS SELECT i AS c_custkey, format('Customer#{:09d}', i) AS c_name, 'address ' || r(i, 1, 9999) AS c_address,
    r(i, 2, 25) AS c_nationkey, phone(i, r(i, 2, 25)) AS c_phone, money(i, 3, -99999, 999999) AS c_acctbal,
    pick(i, 4, ${list('AUTOMOBILE BUILDING FURNITURE MACHINERY HOUSEHOLD')}) AS c_mktsegment, phrase(i, 5) AS c_comment
    FROM range(1, ${customers} + 1) t(i)`)
  await run(`CREATE TABLE part AS SELECT i AS p_partkey,
    concat_ws(' ', pick(i, 1, ${COLORS}), pick(i, 2, ${COLORS}), pick(i, 3, ${COLORS}), pick(i, 4, ${COLORS}), pick(i, 5, ${COLORS})) AS p_name,
    'Manufacturer#' || (r(i, 6, 5) + 1) AS p_mfgr, 'Brand#' || (r(i, 6, 5) + 1) || (r(i, 7, 5) + 1) AS p_brand,
    concat_ws(' ', pick(i, 8, ${list('STANDARD SMALL MEDIUM LARGE ECONOMY PROMO')}), pick(i, 9, ${list('ANODIZED BURNISHED PLATED POLISHED BRUSHED')}),
      pick(i, 10, ${list('TIN NICKEL BRASS STEEL COPPER')})) AS p_type,
    r(i, 11, 50) + 1 AS p_size,
    pick(i, 12, ${list('SM LG MED JUMBO WRAP')}) || ' ' || pick(i, 13, ${list('CASE BOX BAG JAR PKG PACK CAN DRUM')}) AS p_container,
    ((90000 + (i // 10) % 20001 + 100 * (i % 1000)) / 100.0)::DECIMAL(12, 2) AS p_retailprice, phrase(i, 14) AS p_comment
    FROM range(1, ${parts} + 1) t(i)`)
  await run(`CREATE TABLE partsupp AS SELECT i AS ps_partkey, (i + k * (${suppliers} // 4)) % ${suppliers} + 1 AS ps_suppkey,
    r(i * 4 + k, 1, 9999) + 1 AS ps_availqty, money(i * 4 + k, 2, 100, 100000) AS ps_supplycost, phrase(i * 4 + k, 3) AS ps_comment
    FROM range(1, ${parts} + 1) t(i), range(4) u(k)`)
  await run(`CREATE TABLE bare_orders AS SELECT i AS o_orderkey, (r(i, 1, ${customers} // 3) * 3 + 1 + r(i, 2, 2)) AS o_custkey,
    (DATE '1992-01-01' + r(i, 3, 2406)::INTEGER) AS o_orderdate,
    pick(i, 4, ${list('1-URGENT 2-HIGH 3-MEDIUM 4-NOT_SPECIFIED 5-LOW')}) AS o_orderpriority, format('Clerk#{:09d}', r(i, 5, 1000)) AS o_clerk,
    0::BIGINT AS o_shippriority, phrase(i, 6) AS o_comment, r(i, 7, 7) + 1 AS lines FROM range(1, ${orders} + 1) t(i)`)
  await run(`CREATE TABLE lineitem AS WITH lines AS (
      SELECT o_orderkey, o_orderdate, n, o_orderkey * 8 + n AS i, r(o_orderkey * 8 + n, 1, ${parts}) + 1 AS part, r(o_orderkey * 8 + n, 2, 4) AS k,
        r(o_orderkey * 8 + n, 3, 50) + 1 AS quantity, (o_orderdate + (r(o_orderkey * 8 + n, 4, 121) + 1)::INTEGER) AS shipped
      FROM bare_orders, range(1, 8) t(n) WHERE n <= lines)
    SELECT o_orderkey AS l_orderkey, part AS l_partkey, (part + k * (${suppliers} // 4)) % ${suppliers} + 1 AS l_suppkey, n AS l_linenumber,
      quantity::DECIMAL(12, 2) AS l_quantity, (quantity * p_retailprice)::DECIMAL(12, 2) AS l_extendedprice,
      (r(i, 5, 11) / 100.0)::DECIMAL(12, 2) AS l_discount, (r(i, 6, 9) / 100.0)::DECIMAL(12, 2) AS l_tax,
      CASE WHEN shipped + 15 > DATE '1995-06-17' THEN 'N' WHEN r(i, 7, 2) = 0 THEN 'R' ELSE 'A' END AS l_returnflag,
      CASE WHEN shipped > DATE '1995-06-17' THEN 'O' ELSE 'F' END AS l_linestatus, shipped AS l_shipdate,
      (o_orderdate + (r(i, 8, 61) + 30)::INTEGER) AS l_commitdate, (shipped + (r(i, 9, 30) + 1)::INTEGER) AS l_receiptdate,
      pick(i, 10, ${list('DELIVER_IN_PERSON COLLECT_COD NONE TAKE_BACK_RETURN')}) AS l_shipinstruct,
      pick(i, 11, ${list('REG_AIR AIR RAIL SHIP TRUCK MAIL FOB')}) AS l_shipmode, phrase(i, 12) AS l_comment
    FROM lines JOIN part ON p_partkey = part ORDER BY l_orderkey, l_linenumber`)
  await run(`CREATE TABLE orders AS SELECT o_orderkey, o_custkey,
      CASE WHEN bool_and(l_linestatus = 'F') THEN 'F' WHEN bool_and(l_linestatus = 'O') THEN 'O' ELSE 'P' END AS o_orderstatus,
      sum(l_extendedprice * (1 + l_tax) * (1 - l_discount))::DECIMAL(12, 2) AS o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
    FROM bare_orders JOIN lineitem ON l_orderkey = o_orderkey GROUP BY ALL ORDER BY o_orderkey`)
  await run('DROP TABLE bare_orders')
}
