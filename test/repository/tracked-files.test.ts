import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../support/source.ts'

/** Caches, outputs and temporary files: programs write them. */
const generated = [
  /(^|\/)(node_modules|dist|coverage|\.bun|\.cache|\.nyc_output|tmp)\//,
  /\.(log|db|db-wal|db-shm|db-journal|sqlite|sqlite3|lcov|tsbuildinfo|bun-build|tmp|temp|swp|bak|orig|rej|pid)$/,
  /(^|\/)(\.DS_Store|Thumbs\.db|lcov\.info|core)$/,
  /~$/,
]

test.each([
  ['.bun/install/cache/x.ts', true],
  ['dist/weir', true],
  ['packages/a/node_modules/b/index.js', true],
  ['server.log', true],
  ['data/weir.db-wal', true],
  ['src/weir.ts.orig', true],
  ['src/build/build.ts', false],
  ['src/lib/log.ts', false],
  ['src/storage/sqlite/connection/database.ts', false],
  ['drizzle/0001_start.sql', false],
])('whether %s is a cache or an output: %p', (path, expected) => {
  expect(isGenerated(path)).toBe(expected)
})

test.skipIf(!existsSync(join(projectFolder, '.git')))(
  'no cache, output or temporary file is tracked by git',
  () => {
    const listing = Bun.spawnSync(['git', 'ls-files', '-z'], { cwd: projectFolder })
    expect(listing.exitCode).toBe(0)
    const paths = listing.stdout.toString().split('\0').filter(Boolean)
    expect(paths).toContain('package.json')
    expect(paths.filter(isGenerated)).toEqual([])
  },
)

function isGenerated(path: string): boolean {
  return generated.some((pattern) => pattern.test(path))
}
