import { expect, onTestFinished, test } from 'bun:test'
import { join } from 'node:path'
import manifest from '../../package.json'
import { commandPrefix, locationFlags } from '../../src/cli/invocation.ts'
import { shellWord } from '../../src/cli/quote.ts'
import { temporaryFolder } from '../unit/storage/support/folder.ts'
import { firstKey } from '../support/app.ts'
import { hasPostgres, sharedPostgres } from '../support/postgres/server.ts'
import { weirCommand } from '../support/weir-command.ts'

const npx = { npm_lifecycle_event: 'start', npm_config_user_agent: 'npm/11.19.1 node/v20.20.2 linux x64' }
const bun = { npm_lifecycle_event: 'start', npm_config_user_agent: 'bun/1.4.5 npm/? node/v26.3.0 linux x64' }

test('the name of the program is the one that the user typed', () => {
  expect(commandPrefix({ environment: npx, cwd: '/' })).toBe(`npx -y ${manifest.packageManager} start`)
  expect(commandPrefix({ environment: bun, cwd: '/' })).toBe('bun start')
  expect(commandPrefix({ environment: {}, cwd: '/' })).toMatch(/^bun \S+$/)
})

test('suggested commands name the settings and the data where they are not the default ones', () => {
  const loaded = { file: "/etc/my weir's.yaml", dataFolder: '/var/lib/weir' }
  expect(locationFlags(loaded, {}, { environment: {} })).toEqual({ config: '', data: '' })
  expect(locationFlags(loaded, { config: 'x', data: 'y' }, { environment: {} })).toEqual({
    config: " --config '/etc/my weir'\\''s.yaml'",
    data: ' --data /var/lib/weir',
  })
  expect(locationFlags(loaded, {}, { environment: { WEIR_DATA: 'y' } }).data).toBe(' --data /var/lib/weir')
  expect(locationFlags({ ...loaded, file: null }, { config: 'x' }, { environment: {} }).config).toBe('')
})

test.each([
  ['/usr/bin/weir', 'linux', '/usr/bin/weir'],
  ["/my weir's", 'linux', "'/my weir'\\''s'"],
  ['a\\b', 'linux', "'a\\b'"],
  ['=x', 'darwin', "'=x'"],
  ['', 'linux', "''"],
  ['C:\\Tools\\weir.exe', 'win32', 'C:\\Tools\\weir.exe'],
  ["C:\\Ada's tools", 'win32', "'C:\\Ada''s tools'"],
] as const)('the text %s is one word of a shell on %s', (text, platform, word) => {
  expect(shellWord(text, platform)).toBe(word)
})

/** A gateway with its own settings file and data folder: the commands that its startup output suggests. */
async function suggestedCommands(settings: object) {
  const folder = temporaryFolder()
  await Bun.write(join(folder, 'my settings.yaml'), JSON.stringify({ providers: { echo: {} }, ...settings }))
  const flags = ['--port', '0', '--config', 'my settings.yaml', '--data', 'my data']
  const env = { HOME: folder, PATH: process.env.PATH, WEIR_BOOTSTRAP_KEY: firstKey }
  const child = Bun.spawn([...weirCommand, 'serve', ...flags], {
    cwd: folder,
    env,
    stdout: 'pipe',
    stderr: 'ignore',
  })
  onTestFinished(() => child[Symbol.asyncDispose]())
  let text = ''
  for await (const bytes of child.stdout) {
    text += new TextDecoder().decode(bytes)
    if (text.includes('Create an admin key')) break
  }
  return { commands: [...text.matchAll(/“(.*?)”/g)].map((match) => match[1] ?? ''), env }
}

async function expectCommandsWork(settings: object) {
  const { commands, env } = await suggestedCommands(settings)
  const [models, open, ...create] = commands
  expect(create).toHaveLength(2)
  // It would open a browser.
  expect(open).toContain(' open --admin ')
  const output = await Promise.all(
    [models!, ...create].map((command) =>
      Bun.spawn(['sh', '-c', command], { cwd: '/', env, stderr: 'ignore' }).stdout.text(),
    ),
  )
  expect(output[0]).toContain('weir/echo')
  expect(output[1]).toMatch(/^sk-weir-\w{12}-/)
  expect(output[2]).toMatch(/^sk-weir-admin-/)
  return open
}

test('the commands in the startup output work when they are pasted into a shell', async () => {
  expect(await expectCommandsWork({})).toContain(' --data ')
})

test.skipIf(!hasPostgres)('and so they do where the settings file names a PostgreSQL database', async () => {
  const database = await (await sharedPostgres()).createDatabase()
  expect(await expectCommandsWork({ database })).not.toContain(' --data ')
})
