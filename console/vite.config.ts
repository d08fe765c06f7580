import { defineConfig } from 'vite'

// Served by the stack below /console/. For work on the console itself: `npm run dev -w console` beside a stack on port 8080.
export default defineConfig({
  base: '/console/',
  build: {
    target: 'es2023',
    sourcemap: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // All styles in one file, in the order of imports: a folder's own rules come after the shared ones of main.tsx, whatever loads first.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'styles', test: /\.css$/ }] } } },
  },
  server: { host: '127.0.0.1', proxy: { '^/(v2|queue|scheduler|encryption|docs|openapi.json|help)': 'http://127.0.0.1:8080' } },
})
