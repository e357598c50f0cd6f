import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { cp, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import manifest from '../../package.json'
import { projectFolder } from '../support/source.ts'
import { temporaryFolder } from '../unit/storage/support/folder.ts'
import { codeSpans, parsePage } from './support/markdown-page.ts'

const text = await Bun.file(join(projectFolder, 'CONTRIBUTING.md')).text()
// A list of the page indents its blocks.
const page = parsePage('CONTRIBUTING.md', text.replaceAll(/^ {3}/gm, ''))

test('the first change of the contribution guide fails its test at first, and works in the end', async () => {
  const [addedTest = '', addedLine = ''] = codeBlocks('ts')
  const [, testFile = ''] = /in `(test\/\S+\.test\.ts)`/.exec(text) ?? []
  const [, list = '', sourceFile = ''] = /list `(\w+)` in `(src\/\S+\.ts)`/.exec(text) ?? []
  const checkout = await copyProject()
  await Bun.write(join(checkout, testFile), addedTest)
  expect((await bun(checkout, ['test', testFile])).code).not.toBe(0)

  const source = await Bun.file(join(checkout, sourceFile)).text()
  const start = new RegExp(`export const ${list}\\b.* = \\[\\n`)
  expect(source).toMatch(start)
  await Bun.write(
    join(checkout, sourceFile),
    source.replace(start, (line) => `${line}  ${addedLine}`),
  )
  expect(await bun(checkout, ['test', testFile])).toMatchObject({ code: 0 })

  const command = shellLines().find((line) => line.endsWith(' start check')) ?? ''
  const [, name = '', value = ''] = /^(\w+)=(\w+) /.exec(command) ?? []
  const report = await bun(checkout, ['src/main.ts', 'check', '--json'], { [name]: value })
  const { providers } = JSON.parse(report.out)
  expect(providers).toContainEqual(expect.objectContaining({ name: 'riverbank', key: true }))
})

test('every script and every file that the contribution guide names exists', () => {
  const spans = codeSpans(page)
  const named = [...shellLines(), ...spans].flatMap(
    (line) => /\bbun(?:@[\d.]+)? run ([a-z:]+)/.exec(line)?.[1] ?? [],
  )
  expect(named.filter((script) => !Object.keys(manifest.scripts).includes(script))).toEqual([])
  expect(text).toContain(`npx -y ${manifest.packageManager} start`)
  const paths = spans.filter((span) => /^(src|test)\/[\w./-]+$/.test(span) && !span.includes('riverbank'))
  expect(paths.length).toBeGreaterThan(10)
  for (const path of paths) {
    expect([path, existsSync(join(projectFolder, path))]).toEqual([path, true])
  }
})

test('the changelog has an entry for the version of package.json', async () => {
  const changelog = await Bun.file(join(projectFolder, 'CHANGELOG.md')).text()
  expect(changelog).toContain(`\n## [${manifest.version}] - `)
})

function codeBlocks(language: string): string[] {
  return page.fences.flatMap((fence) => (fence.language === language ? [`${fence.text}\n`] : []))
}

/** The commands of the shell blocks, without comments. */
function shellLines(): string[] {
  const lines = codeBlocks('sh').flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
  return lines.map((line) => line.replace(/(^|\s)#.*$/, '').trim()).filter((line) => line !== '')
}

/** Copies what a test of a module needs, so that the change is not made here. */
async function copyProject(): Promise<string> {
  const checkout = join(temporaryFolder(), 'weir')
  await mkdir(checkout)
  const copied = [
    'src',
    'drizzle',
    'bunfig.toml',
    'package.json',
    'tsconfig.json',
    'test/support/environment.ts',
    'test/support/free-port.ts',
    'test/support/postgres',
  ]
  for (const path of copied) await cp(join(projectFolder, path), join(checkout, path), { recursive: true })
  await symlink(join(projectFolder, 'node_modules'), join(checkout, 'node_modules'), 'junction')
  return checkout
}

/** Runs Bun in the folder, with only these variables. */
async function bun(cwd: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd,
    env: { HOME: cwd, ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return { out: await child.stdout.text(), code: await child.exited }
}
