# A component in plain shell: parameters in, a table out. Exit 1 with a sentence on stderr is a mistake of the user.
set -eu

# Good enough for a flat text; a real component uses a JSON parser.
greeting=$(sed -n 's/.*"greeting" *: *"\([^"]*\)".*/\1/p' "$KBC_DATADIR/config.json")
if [ -z "$greeting" ]; then
  echo 'The parameter "greeting" is missing.' >&2
  exit 1
fi

echo "Writing the greeting for configuration $KBC_CONFIGID"
printf '"id","text"\n"1","%s"\n' "$greeting" > "$KBC_DATADIR/out/tables/greetings.csv"
printf '{"primary_key":["id"],"incremental":true}' > "$KBC_DATADIR/out/tables/greetings.csv.manifest"
