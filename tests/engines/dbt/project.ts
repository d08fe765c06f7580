// A dbt project of 60 models in the manner of the public jaffle shop: CSV files, staging views, ephemeral steps, tables, incremental models of
// every strategy, snapshots, tests, and macros like those of dbt_utils. `changed` is the same project after a day of work on it.

const SEEDS = {
  raw_customers: ['id,first_name,last_name', rows(40, (i) => `${i},${NAMES()[i % 8]},${'KLMNOPQR'[i % 8]}.`)],
  raw_orders: [
    'id,user_id,order_date,status',
    rows(
      160,
      (i) => `${i},${(i * 7) % 40 || 40},2026-0${1 + (i % 9)}-${String(1 + (i % 28)).padStart(2, '0')},${STATES()[i % 5]}`,
    ),
  ],
  raw_payments: [
    'id,order_id,payment_method,amount',
    rows(200, (i) => `${i},${(i % 160) + 1},${METHODS()[i % 4]},${(i * 37) % 9000}`),
  ],
  raw_products: ['sku,name,type,price', rows(10, (i) => `JAF-00${i},product ${i},${i % 2 ? 'jaffle' : 'beverage'},${i * 100}`)],
  raw_stores: ['id,name,opened_at,tax_rate', rows(6, (i) => `${i},store ${i},2025-0${i}-01T00:00:00,0.0${i}`)],
} as const

function NAMES() {
  return ['Michael', 'Shawn', 'Kathleen', 'Jimmy', 'Katherine', "O'Hara", 'Žofie', 'Lisa']
}
function STATES() {
  return ['placed', 'shipped', 'completed', 'return_pending', 'returned']
}
function METHODS() {
  return ['credit_card', 'coupon', 'bank_transfer', 'gift_card']
}
function rows(count: number, row: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => row(i + 1)).join('\n')
}

const MACROS = `
{% macro cents_to_dollars(column, scale=2) %}({{ column }} / 100.0)::numeric(16, {{ scale }}){% endmacro %}

{% macro surrogate_key(columns) %}
md5({% for column in columns %}coalesce(cast({{ column }} as text), '_null_'){% if not loop.last %} || '-' || {% endif %}{% endfor %})
{% endmacro %}

{% macro star(from, except=[]) %}
{%- set columns = adapter.get_columns_in_relation(from) -%}
{%- for column in columns if column.name not in except -%}"{{ column.name }}"{% if not loop.last %}, {% endif %}{%- endfor -%}
{% endmacro %}

{% macro get_column_values(table, column) %}
{%- if execute -%}
{%- set found = run_query('select ' ~ column ~ ' as value from ' ~ table ~ ' group by 1 order by count(*) desc, 1') -%}
{{ return(found.columns[0].values()) }}
{%- else -%}{{ return([]) }}{%- endif -%}
{% endmacro %}

{% macro pivot(column, values, agg='sum', then='1') %}
{%- for value in values -%}
{{ agg }}(case when {{ column }} = '{{ value }}' then {{ then }} else 0 end) as "{{ value }}"{% if not loop.last %}, {% endif %}
{%- endfor -%}
{% endmacro %}

{% macro union_relations(relations) %}
{%- for relation in relations -%}
select '{{ relation.identifier }}' as source_relation, * from {{ relation }}{% if not loop.last %} union all {% endif %}
{%- endfor -%}
{% endmacro %}

{% macro date_spine(first, last) %}
with recursive spine as (
  select cast('{{ first }}' as date) as day
  union all
  select (day + interval '1 day')::date from spine where day < cast('{{ last }}' as date)
)
select day as date_day from spine
{% endmacro %}

{% macro generate_schema_name(custom_schema_name, node) -%}
{%- if custom_schema_name is none -%}{{ target.schema }}{%- else -%}{{ target.schema }}_{{ custom_schema_name | trim }}{%- endif -%}
{%- endmacro %}

{% macro grant_read(role) %}{% do log('grants of ' ~ role, info=False) %}{% endmacro %}
`

const TESTS = {
  'tests/generic/at_least_one.sql': `{% test at_least_one(model, column_name) %}
select 1 as missing from {{ model }} having count({{ column_name }}) = 0
{% endtest %}
`,
  'tests/generic/expression_is_true.sql': `{% test expression_is_true(model, expression) %}
select * from {{ model }} where not ({{ expression }})
{% endtest %}
`,
  'tests/no_negative_amounts.sql': `select order_id, sum(amount) as total from {{ ref('stg_payments') }} group by 1 having sum(amount) < 0\n`,
}

const table = (sql: string, more = '') => `{{ config(materialized='table'${more}) }}\n${sql}\n`
const view = (sql: string) => `${sql}\n`
const ephemeral = (sql: string) => `{{ config(materialized='ephemeral') }}\n${sql}\n`
const incremental = (strategy: string, key: string, sql: string, more = '') =>
  `{{ config(materialized='incremental', incremental_strategy='${strategy}'${key ? `, unique_key=${key}` : ''}${more}) }}\n${sql}\n`

const STAGING: Record<string, string> = {
  stg_customers: view(`with source as (select * from {{ ref('raw_customers') }}),
renamed as (select id as customer_id, first_name, last_name from source)
select * from renamed`),
  stg_orders: view(`with source as (select * from {{ ref('raw_orders') }}),
renamed as (select id as order_id, user_id as customer_id, order_date, status from source)
select * from renamed`),
  stg_payments: view(
    `select id as payment_id, order_id, payment_method, {{ cents_to_dollars('amount') }} as amount from {{ ref('raw_payments') }}`,
  ),
  stg_products:
    view(`select sku as product_id, name as product_name, type as product_type, {{ cents_to_dollars('price') }} as price,
  type = 'jaffle' as is_food from {{ ref('raw_products') }}`),
  stg_stores:
    view(`select id as location_id, name as location_name, tax_rate, {{ dbt.date_trunc('day', 'opened_at') }} as opened_date
from {{ ref('raw_stores') }}`),
  stg_visits: view(`select visit_id::integer as visit_id, customer_id::integer as customer_id, seen_at::timestamp as seen_at
from {{ source('shop', 'visits') }}`),
}

const STEPS: Record<string, string> = {
  eph_customer_orders:
    ephemeral(`select customer_id, min(order_date) as first_order, max(order_date) as most_recent_order, count(order_id) as number_of_orders
from {{ ref('stg_orders') }} group by customer_id`),
  eph_customer_payments: ephemeral(`select orders.customer_id, sum(amount) as total_amount
from {{ ref('stg_payments') }} payments left join {{ ref('stg_orders') }} orders on payments.order_id = orders.order_id group by orders.customer_id`),
  eph_order_amounts:
    ephemeral(`select order_id, {{ pivot('payment_method', ['credit_card', 'coupon', 'bank_transfer', 'gift_card'], then='amount') }},
  sum(amount) as total_amount from {{ ref('stg_payments') }} group by order_id`),
}

const MARTS: Record<string, string> = {
  customers:
    table(`select customers.customer_id, customers.first_name, customers.last_name, o.first_order, o.most_recent_order, o.number_of_orders,
  p.total_amount as customer_lifetime_value
from {{ ref('stg_customers') }} customers
left join {{ ref('eph_customer_orders') }} o on customers.customer_id = o.customer_id
left join {{ ref('eph_customer_payments') }} p on customers.customer_id = p.customer_id`),
  orders: table(
    `select orders.order_id, orders.customer_id, orders.order_date, orders.status, a."credit_card" as credit_card_amount,
  a."coupon" as coupon_amount, a.total_amount as amount
from {{ ref('stg_orders') }} orders left join {{ ref('eph_order_amounts') }} a on orders.order_id = a.order_id`,
    ", indexes=[{'columns': ['order_id'], 'unique': True}, {'columns': ['status']}]",
  ),
  order_keys: table(
    `select {{ surrogate_key(['order_id', 'customer_id']) }} as order_key, {{ star(ref('orders'), except=['status']) }} from {{ ref('orders') }}`,
  ),
  payment_pivot:
    table(`select order_id, {{ pivot('payment_method', get_column_values(ref('raw_payments'), 'payment_method'), then='amount') }}
from {{ ref('stg_payments') }} group by order_id`),
  days: table(`{{ date_spine('2026-01-01', '2026-03-31') }}`),
  everyone: view(`{{ union_relations([ref('raw_stores'), ref('raw_stores')]) }}`),
  visits_of_customers: table(
    `select c.customer_id, count(v.visit_id) as visits, max(v.seen_at) as last_seen
from {{ ref('stg_customers') }} c left join {{ ref('stg_visits') }} v using (customer_id) group by 1`,
    ", schema='marts'",
  ),
  ranked_orders: table(
    `select *, row_number() over (partition by customer_id order by order_date, order_id) as number_of_customer,
  lag(order_date) over (partition by customer_id order by order_date, order_id) as previous_date from {{ ref('orders') }}`,
    ", schema='marts'",
  ),
  comments: `{{ config(materialized='table', post_hook="comment on table {{ this }} is 'orders with comments'") }}\nselect 1 as id, 'a ''quoted'' text' as comment -- a comment; with a semicolon\n`,
}

const INCREMENTAL: Record<string, string> = {
  inc_orders_merge: incremental(
    'merge',
    "'order_id'",
    `select order_id, customer_id, status, order_date from {{ ref('stg_orders') }}
{% if is_incremental() %} where order_date >= (select max(order_date) from {{ this }}) {% endif %}`,
  ),
  inc_orders_merge_some: incremental(
    'merge',
    "['order_id', 'customer_id']",
    `select order_id, customer_id, status, order_date, now() as loaded_at from {{ ref('stg_orders') }}`,
    ", merge_update_columns=['status']",
  ),
  inc_orders_delete_insert: incremental(
    'delete+insert',
    "'order_id'",
    `select order_id, customer_id, status from {{ ref('stg_orders') }}
{% if is_incremental() %} where order_id > (select max(order_id) - 20 from {{ this }}) {% endif %}`,
  ),
  inc_orders_delete_insert_keys: incremental(
    'delete+insert',
    "['order_id', 'customer_id']",
    `select order_id, customer_id, status from {{ ref('stg_orders') }}`,
  ),
  inc_payments_append: incremental(
    'append',
    '',
    `select payment_id, order_id, amount from {{ ref('stg_payments') }}
{% if is_incremental() %} where payment_id > (select max(payment_id) from {{ this }}) {% endif %}`,
  ),
  inc_new_columns: incremental(
    'merge',
    "'order_id'",
    `select order_id, status {% if var('more', false) %}, customer_id {% endif %} from {{ ref('stg_orders') }}`,
    ", on_schema_change='append_new_columns'",
  ),
  inc_sync_columns: incremental(
    'merge',
    "'order_id'",
    `select order_id {% if var('more', false) %}, customer_id {% else %}, status {% endif %} from {{ ref('stg_orders') }}`,
    ", on_schema_change='sync_all_columns'",
  ),
}

/** One per measure and group, so that there are 60: small models are what a project has many of. */
function metrics(): Record<string, string> {
  const groups = ['status', 'customer_id', 'order_date']
  const measures: Record<string, string> = {
    orders: 'count(*)',
    amount: 'sum(amount)',
    average: 'avg(amount)',
    coupons: 'count(*) filter (where coupon_amount > 0)',
    biggest: 'max(amount)',
    customers: 'count(distinct customer_id)',
    days: 'count(distinct order_date)',
    smallest: 'min(amount)',
    median: 'percentile_cont(0.5) within group (order by amount)',
    statuses: "string_agg(distinct status, ', ' order by status)",
    first: 'min(order_date)',
  }
  const models: Record<string, string> = {}
  for (const [measure, sql] of Object.entries(measures))
    for (const group of groups)
      models[`metric_${measure}_by_${group}`] = (group === 'status' ? table : view)(
        `select ${group}, ${sql} as ${measure} from {{ ref('orders') }} group by 1`,
      )
  models.metric_all = table(`select s.status, ${Object.keys(measures)
    .map((name) => `${name}.${name}`)
    .join(', ')}
from (select distinct status from {{ ref('orders') }}) s
${Object.keys(measures)
  .map((name) => `left join {{ ref('metric_${name}_by_status') }} ${name} on ${name}.status = s.status`)
  .join('\n')}`)
  models.metric_top = view(`select * from {{ ref('metric_amount_by_customer_id') }} order by amount desc nulls last limit 5`)
  return models
}

const PROPERTIES = `version: 2
sources:
  - name: shop
    schema: in.c-dbt
    tables:
      - name: visits
        columns: [{name: visit_id, data_tests: [unique, not_null]}]
models:
  - name: customers
    description: One row per customer, with a "quoted" word.
    columns:
      - {name: customer_id, description: The key., data_tests: [unique, not_null]}
  - name: orders
    columns:
      - {name: order_id, data_tests: [unique, not_null, at_least_one]}
      - name: customer_id
        data_tests:
          - not_null
          - relationships: {arguments: {to: ref('customers'), field: customer_id}}
      - name: status
        data_tests:
          - accepted_values: {arguments: {values: [placed, shipped, completed, return_pending, returned]}}
    data_tests:
      - expression_is_true: {arguments: {expression: "amount >= 0 or amount is null"}}
  - name: order_keys
    columns: [{name: order_key, data_tests: [unique]}]
  - name: contracted
    config: {contract: {enforced: true}}
    columns:
      - {name: order_id, data_type: integer, constraints: [{type: not_null}]}
      - {name: status, data_type: text}
snapshots:
  - name: snap_orders
    relation: ref('raw_orders')
    config: {unique_key: id, strategy: check, check_cols: [status]}
  - name: snap_stores
    relation: ref('raw_stores')
    config: {unique_key: id, strategy: timestamp, updated_at: opened_at, hard_deletes: invalidate}
unit_tests:
  - name: names are renamed
    model: stg_customers
    given: [{input: ref('raw_customers'), rows: [{id: 1, first_name: a, last_name: b}]}]
    expect: {rows: [{customer_id: 1, first_name: a, last_name: b}]}
`

/** Path to content of every file. */
export function dbtProject({ changed = false } = {}): Readonly<Record<string, string>> {
  const files: Record<string, string> = {
    'dbt_project.yml': `name: shop
version: '1.0'
profile: shop
model-paths: [models]
seed-paths: [seeds]
macro-paths: [macros]
snapshot-paths: [snapshots]
test-paths: [tests]
flags: {send_anonymous_usage_stats: false}
models: {shop: {+materialized: view}}
`,
    'macros/utils.sql': MACROS,
    'models/properties.yml': PROPERTIES,
    ...TESTS,
  }
  for (const [name, [header, lines]] of Object.entries(SEEDS)) files[`seeds/${name}.csv`] = `${header}\n${lines}\n`
  const contracted = table(`select order_id::integer as order_id, status::text as status from {{ ref('stg_orders') }}`)
  const models = { ...STAGING, ...STEPS, ...MARTS, ...INCREMENTAL, ...metrics(), contracted }
  for (const [name, sql] of Object.entries(models)) files[`models/${name}.sql`] = sql
  if (!changed) return files
  return {
    ...files,
    'seeds/raw_orders.csv': (files['seeds/raw_orders.csv'] ?? '')
      .replace('returned', 'completed')
      .concat('161,1,2026-09-30,placed\n'),
    'models/customers.sql': (files['models/customers.sql'] ?? '').replace(
      'o.number_of_orders,',
      'o.number_of_orders, 1 as is_new,',
    ),
    // A table that becomes a view, and a view that becomes a table.
    'models/days.sql': (files['models/days.sql'] ?? '').replace("materialized='table'", "materialized='view'"),
    'models/metric_top.sql': table((files['models/metric_top.sql'] ?? '').trim()),
  }
}

export const MODELS = Object.keys(dbtProject()).filter((path) => /^models\/.*\.sql$/.test(path)).length
