// Builds the two bundles that the pages carry, byte for byte the same on every machine, with their SHA-256.
// What is written here is committed: users of hcat need no Node.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'

const FOLDER = '../python_udfs/hcat/explorer/bundles'
const PAGES = ['explorer', 'desk']

await build({
  entryPoints: Object.fromEntries(PAGES.map((page) => [page, `src/${page}/main.tsx`])),
  outdir: FOLDER,
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  charset: 'utf8',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
})

const files = PAGES.flatMap((page) => [`${page}.css`, `${page}.js`])
const sums = files.map((file) => `${createHash('sha256').update(readFileSync(`${FOLDER}/${file}`)).digest('hex')}  ${file}\n`)
writeFileSync(`${FOLDER}/SHA256SUMS`, sums.join(''))
