// A built-in component that has nothing to do: what remains is the way there and back. Used by queue.bench.ts.

process.exitCode = 0
