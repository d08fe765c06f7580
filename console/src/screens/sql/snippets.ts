// Beginnings of queries that people look up again and again.

export interface Snippet {
  readonly name: string
  readonly about: string
  readonly sql: string
}

const TABLE = '"in.c-main"."orders"'

export const SNIPPETS: readonly Snippet[] = [
  {
    name: 'Duplicates',
    about: 'Keys that several rows have.',
    sql: `select id, count(*) as n\nfrom ${TABLE}\ngroup by id\nhaving count(*) > 1\norder by n desc`,
  },
  {
    name: 'Newest row of each key',
    about: 'By a window, without a join.',
    sql: `select *\nfrom ${TABLE}\nqualify row_number() over (partition by id order by updated desc) = 1`,
  },
  {
    name: 'Per day',
    about: 'Rows by the day of a text column.',
    sql: `select date_trunc('day', try_cast(created as timestamp)) as day, count(*) as n\nfrom ${TABLE}\ngroup by day\norder by day`,
  },
  {
    name: 'Running total',
    about: 'A sum up to each row.',
    sql: `select day, n, sum(n) over (order by day) as total\nfrom (select 1 as day, 1 as n)`,
  },
  {
    name: 'Rows without a match',
    about: 'What one table has and the other lacks.',
    sql: `select a.*\nfrom ${TABLE} a\nanti join "in.c-main"."customers" b on b.id = a.customer_id`,
  },
  {
    name: 'Pivot',
    about: 'Values of a column as columns.',
    sql: `pivot (select city, status from ${TABLE})\non status\nusing count(*)\ngroup by city`,
  },
  {
    name: 'JSON members',
    about: 'Values out of a column with JSON.',
    sql: `select id, data->>'$.customer.name' as customer\nfrom ${TABLE}`,
  },
  {
    name: 'As it was',
    about: 'A table of two days ago, beside the one of now.',
    sql: `select count(*) as then, (select count(*) from ${TABLE}) as now\nfrom ${TABLE} as of '-2 days'`,
  },
  {
    name: 'Changes',
    about: 'What was added, changed and deleted since yesterday.',
    sql: `select *\nfrom table_changes('in.c-main.orders', '-1 day', 'now')`,
  },
]
