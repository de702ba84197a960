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

// what the bundles hold of others stands beside them with its licence
const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
const licences = Object.entries(dependencies).map(([name, version]) => {
  const text = readFileSync(`node_modules/${name}/LICENSE`, 'utf8').trim()
  return `${name} ${version}\n\n${text}\n`
})
writeFileSync(`${FOLDER}/LICENSES.txt`, licences.join(`\n${'-'.repeat(80)}\n\n`))

const files = PAGES.flatMap((page) => [`${page}.css`, `${page}.js`])
const sums = files.map((file) => `${createHash('sha256').update(readFileSync(`${FOLDER}/${file}`)).digest('hex')}  ${file}\n`)
writeFileSync(`${FOLDER}/SHA256SUMS`, sums.join(''))
