// An example for the help of every command. A line belongs to the command that it runs; a group shows the first ones of its commands.
// examples.test.ts parses each with the options of its command.

import type { Command } from 'commander'

const SHOWN_OF_GROUP = 4

/** Adds the examples to the help of all commands. */
export function addExamples(program: Command): void {
  const linesOf = new Map<Command, string[]>()
  for (const line of EXAMPLES) {
    const command = commandOf(program, line)
    linesOf.set(command, [...(linesOf.get(command) ?? []), line])
  }
  const add = (command: Command): readonly string[] => {
    const below = command.commands.map(add)
    const lines = linesOf.get(command) ?? below.flatMap(([first]) => first ?? []).slice(0, SHOWN_OF_GROUP)
    if (command !== program) command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`)
    return lines
  }
  add(program)
}

/** The command that a line runs. */
export function commandOf(program: Command, line: string): Command {
  let command = program
  for (const word of line.split(' ').slice(1)) {
    const inner = command.commands.find((one) => one.name() === word)
    if (inner === undefined) break
    command = inner
  }
  return command
}

export const EXAMPLES: readonly string[] = `
millrace start
millrace demo
millrace service install --dry-run
millrace service install --user --data /srv/millrace
millrace version
millrace mcp
millrace mcp --groups look,query
millrace login --url https://millrace.example.com
millrace login production --url https://millrace.example.com < token.txt
millrace login production --url https://millrace.example.com --email ann@example.com --project 1
millrace profiles list
millrace profiles use production
millrace profiles remove production
millrace bucket list
millrace bucket list --json id,rowsCount
millrace bucket show in.c-main
millrace bucket create main --stage in
millrace bucket drop in.c-main --force
millrace table list in.c-main
millrace table list --jq '.[] | select(.rowsCount > 1000) | .id'
millrace table show in.c-main.orders
millrace table create in.c-main.orders orders.csv --primary-key id
millrace table import in.c-main.orders orders.csv --incremental
millrace table export in.c-main.orders orders.parquet --format parquet
millrace table preview in.c-main.orders --where status=new --limit 5
millrace table delete-rows in.c-main.orders --where status=cancelled
millrace table delete-rows in.c-main.orders --changed-until "-90 days" --dry-run
millrace table drop in.c-main.orders
millrace table snapshot in.c-main.orders --description "before the migration"
millrace table history in.c-main.orders
millrace table history in.c-main.orders on
millrace table restore 7 in.c-main.orders-before
millrace column add in.c-main.orders note
millrace column change-type in.c-main.orders total NUMERIC --invalid null
millrace column drop in.c-main.orders note
millrace key set in.c-main.orders id
millrace key drop in.c-main.orders
millrace metadata list table in.c-main.orders
millrace metadata set column in.c-main.orders.total KBC.description="with tax"
millrace metadata set config keboola.ex-generic-v2/shop owner=ann
millrace metadata delete bucket in.c-main owner
millrace workspace list
millrace workspace show 7
millrace workspace create --timeout 600
millrace workspace load 7 in.c-main.orders in.c-main.customers
millrace workspace reset-password 7
millrace workspace delete 7
millrace search orders --kind table column
millrace usage --from 2026-01-01 --to 2026-01-31 --group-by component
millrace sql 'SELECT count(*) FROM "in.c-main"."orders"'
millrace sql --file report.sql --format csv > report.csv
millrace config list keboola.ex-generic-v2
millrace config show keboola.ex-generic-v2 shop --jq .configuration.parameters
millrace config create keboola.ex-generic-v2 --id shop --name Shop --file shop.json
millrace config update keboola.ex-generic-v2 shop --file shop.json --message "new URL"
millrace config delete keboola.ex-generic-v2 shop
millrace config restore keboola.ex-generic-v2 shop
millrace config rollback keboola.ex-generic-v2 shop 1
millrace config copy keboola.ex-generic-v2 shop 2 --name "Shop, a copy"
millrace config diff keboola.ex-generic-v2 shop 1 2
millrace config dry-run keboola.duckdb-transformation sums --no-plans
millrace config pull configurations
millrace config push configurations --plan
millrace row list keboola.ex-generic-v2 shop
millrace row show keboola.ex-generic-v2 shop orders
millrace row create keboola.ex-generic-v2 shop --id orders --name Orders --file orders.json
millrace row update keboola.ex-generic-v2 shop orders --disable
millrace row delete keboola.ex-generic-v2 shop orders
millrace row order keboola.ex-generic-v2 shop customers orders
millrace state get keboola.ex-generic-v2 shop > state.json
millrace state set keboola.ex-generic-v2 shop --file state.json
millrace state reset keboola.ex-generic-v2 shop --row orders
millrace component list --type extractor
millrace component show keboola.ex-generic-v2
millrace component validate counter/counter.json
millrace component new acme.counter --language python
millrace component run counter/counter.json counter/data
millrace dashboard list
millrace dashboard show 3 --filter since=2026-01-01
millrace dashboard link 3 --days 30
millrace dashboard revoke 3 5
millrace connector list
millrace connector list shop --catalogue public
millrace connector show stripe
millrace connector add stripe --id stripe --config stripe.json --stream customers --stream charges
millrace connector add my-api.yaml --name "My API"
millrace connector streams stripe
millrace connector update stripe --apply
millrace connector convert my-api.yaml
millrace connector convert shop --to manifest
millrace branch list
millrace branch show 42
millrace branch create "New prices"
millrace branch delete 42
millrace merge-request list
millrace merge-request show 3
millrace merge-request create 42 --title "New prices"
millrace merge-request conflicts 3
millrace merge-request request-review 3
millrace merge-request approve 3 --reason "prices are right"
millrace merge-request request-changes 3 --reason "VAT is missing"
millrace merge-request merge 3
millrace proposal list
millrace proposal show 5
millrace proposal rehearse 5
millrace proposal create 123 --title "New prices"
millrace proposal accept 5
millrace proposal undo 5
millrace proposal refuse 5 --reason "the host is not ours"
millrace proposal discard 5
millrace action list keboola.ex-generic-v2
millrace action run keboola.duckdb-transformation dryRun --config sums
millrace oauth list keboola.ex-generic-v2
millrace oauth show keboola.ex-generic-v2 main
millrace oauth providers
millrace oauth link keboola.ex-generic-v2 --id main --for ann@example.com
millrace oauth add keboola.ex-generic-v2 main --for ann@example.com --file tokens.json
millrace oauth test keboola.ex-generic-v2 main
millrace oauth refresh keboola.ex-generic-v2 main
millrace oauth delete keboola.ex-generic-v2 main
millrace encrypt --component keboola.ex-generic-v2 --project 1 < secret.txt
millrace encryption rotate
millrace job run keboola.ex-generic-v2 shop --follow
millrace verify shop --repair
millrace job list --status error --limit 5
millrace job show 42
millrace job wait 42
millrace job logs 42 --follow
millrace job kill 42
millrace job rerun 42
millrace flow run nightly
millrace flow show 42 --follow
millrace flow rerun 42
millrace flow validate flow.json
millrace file upload data.csv --tag raw
millrace file download 7 --output back.csv
millrace file list --query 'tags:"raw"'
millrace file show 7
millrace file delete 7 8
millrace file tag 7 raw checked
millrace project create Marketing
millrace project list
millrace project rename 2 "Marketing EU"
millrace project pause 2 --reason "moves to another stack"
millrace project resume 2
millrace project delete 2 --days 30
millrace project restore 2
millrace project set 1 backend=snowflake
millrace token create --description reader --expires-in 86400 --bucket in.c-main=read
millrace token list --project 2
millrace token create --profile production --description reader --yes
millrace token delete 12
millrace token reset-master
millrace nodes
millrace people list
millrace people invite ann@example.com --project 1 --role editor
millrace people admin ann@example.com
millrace people remove ann@example.com
millrace schedule create "0 6 * * *" keboola.ex-generic-v2 shop --timezone Europe/Prague
millrace schedule list
millrace schedule show 7
millrace schedule next 7 --count 3
millrace schedule pause 7
millrace schedule resume 7
millrace schedule delete 7
millrace schedule run-now 7
millrace trigger create keboola.flow nightly --table in.c-main.orders in.c-main.customers --every-minutes 10
millrace trigger list --component keboola.flow
millrace trigger show 7
millrace trigger update 7 --every-minutes 60
millrace trigger delete 7
millrace delivery list
millrace delivery again platform.wr-http crm --row contacts --key 17 42
millrace event list --query "type:error" --limit 50
millrace event show 123
millrace api GET /v2/storage/tables
millrace api POST /queue/jobs --data '{"component":"keboola.ex-generic-v2","config":"shop","mode":"run"}'
millrace notify list --event job-failed
millrace notify add job-failed --webhook https://example.com/hook --filter job.configuration.id==123
millrace notify delete 7
millrace notify test 7
millrace notify log --status failed
millrace query save "orders of a city" 'SELECT * FROM "in.c-main"."orders" WHERE city = $city' --parameter city:text=Praha
millrace query list
millrace query run "orders of a city" --set city=Brno --format csv
millrace query delete "orders of a city" --yes
millrace contract export in.c-main.orders
millrace contract import in.c-main.orders orders.yaml
millrace contract breaks --branch 12
millrace contract delete in.c-main.orders --yes
millrace bisect in.c-main.orders --good "-2 days" --test 17
millrace test run
millrace test run in.c-main.orders --strict
millrace test import target/run_results.json --schema analytics=out.c-analytics
millrace test list in.c-main.orders
millrace test add in.c-main.orders "id is there" notNull '{"columns": ["id"]}'
millrace test add in.c-main.orders "no refunds" sql '{"sql": "SELECT * FROM \\"in.c-main\\".\\"orders\\" WHERE amount < 0"}' --severity warn
millrace test results in.c-main.orders
millrace test change 17 --severity warn
millrace test change 17 --off
millrace test delete 17
millrace stream list
millrace stream add "Web shop" --table in.c-shop.orders
millrace stream sink web-shop --table in.c-shop.names --column id=uuid name=path:customer.name
millrace stream show web-shop
millrace stream send web-shop '{"order": 1}'
millrace stream batch web-shop --age 30s
millrace stream enable web-shop
millrace stream disable web-shop
millrace stream rotate-secret web-shop
millrace stream delete web-shop
millrace template list
millrace template repositories
millrace template refresh millrace
millrace template show shop-pipeline
millrace template use shop-pipeline --name "My shop" --set password=lovelace --step schedule
millrace template make ./templates/orders keboola.ex-generic-v2/my-shop
millrace app list
millrace app create Orders --script examples/data-app/app.mjs --set TABLE=in.c-shop.orders --deploy
millrace app deploy 1 --restart
millrace app stop 1
millrace app open 1
millrace app log 1 --lines 20
millrace app delete 1
millrace vault list
millrace vault set db-password --encrypted < password.txt
millrace vault delete db-password
millrace migrate --from https://connection.example.com --token 1-1-secret
millrace export-project shop --url https://connection.example.com --files
millrace import-project shop
millrace upgrade --check
millrace upgrade --check --backup /backups/before-0.2.0
millrace backup /backups/monday
millrace restore /backups/monday --verify
millrace resume
millrace admin sign-in-link --email ann@example.com
millrace extension add sqlite
millrace extension add postgres --file postgres_scanner.duckdb_extension.gz
millrace extension list
millrace extension remove sqlite
millrace doctor
millrace completion bash > ~/.millrace-completion
`
  .trim()
  .split('\n')
