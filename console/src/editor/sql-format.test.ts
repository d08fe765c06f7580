import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formattedSql } from './sql-format.ts'

test('clauses begin lines, lists of columns and conditions are indented, and subqueries are, too', () => {
  assert.equal(
    formattedSql(
      `select a.id,count(*) as n, 'x;  y' from "in.c-main"."orders" a left join (select id from t where b between 1 and 2 and c = 3) u on u.id=a.id where a.x::int > 1 and a.y in (1,2) group by 1, 2 order by n desc limit 10`,
    ),
    `select a.id,
  count(*) as n,
  'x;  y'
from "in.c-main"."orders" a
left join (
  select id
  from t
  where b between 1 and 2
    and c = 3
) u on u.id = a.id
where a.x::int > 1
  and a.y in (1, 2)
group by 1, 2
order by n desc
limit 10`,
  )
})

const QUERIES = [
  'select 1',
  'select 1; select 2 -- two\n; select 3',
  'with a as (select 1 as x), b as (select 2) select * from a, b where (x = 1 or x = 2) and true',
  "select $city, list[1], {'a': 1}, x->>'$.y' from t -- the end",
  'select count(*) filter (where x) over (partition by y order by z) from t union all select 2',
  "select 'not closed",
]

test('nothing but white space changes, and formatting again changes nothing', () => {
  const solid = (sql: string) => sql.replace(/\s+/g, '')
  for (const sql of QUERIES) {
    const once = formattedSql(sql)
    assert.equal(solid(once), solid(sql))
    assert.equal(formattedSql(once), once)
  }
})
