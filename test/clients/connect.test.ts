import { expect, onTestFinished, test } from 'bun:test'
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { connectTools } from '../../src/cli/connect/tools.ts'
import { type App, startApp } from '../support/app.ts'
import { projectFolder } from '../support/source.ts'

const packages = ['openai', 'ai', '@ai-sdk/openai-compatible', '@openai/agents-core', '@openai/agents-openai']

/** A folder with the clients that are installed here, as a user's project has them. */
async function projectWithClients(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-connect-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const name of packages) {
    const link = join(folder, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(projectFolder, 'node_modules', name), link, 'junction')
  }
  // The package @openai/agents exports these two.
  const both = "export * from '@openai/agents-core'\nexport * from '@openai/agents-openai'\n"
  await Bun.write(join(folder, 'node_modules/@openai/agents/index.js'), both)
  return folder
}

function settingsFor(name: string, { url, key }: App) {
  const model = { slug: 'weir/echo', displayName: 'Echo', tools: true, images: false, schemas: true }
  return connectTools
    .find((tool) => tool.name === name)!
    .settings({ origin: url, key, model, models: [model] })
}

async function run(command: readonly string[], cwd: string, app: App): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { HOME: cwd, PATH: process.env.PATH, WEIR_API_KEY: app.key },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
  return out
}

test.each(['openai-node', 'ai-sdk', 'agents'])(
  'the JavaScript program that weir connect %s prints gets a reply',
  async (name) => {
    await using app = await startApp()
    const folder = await projectWithClients()
    const { files } = settingsFor(name, app)
    const file = files.find(({ format }) => format === 'javascript')!
    await Bun.write(join(folder, file.path), file.content)
    expect(await run([process.execPath, file.path], folder, app)).toBe('Hello from Weir\n')
  },
)

test.skipIf(Bun.which('curl') === null)(
  'the command that weir connect curl prints gets a reply',
  async () => {
    await using app = await startApp()
    const folder = await projectWithClients()
    const { command = '' } = settingsFor('curl', app)
    const reply = JSON.parse(await run(['sh', '-c', command], folder, app))
    expect(reply).toMatchObject({ choices: [{ message: { content: 'Hello from Weir' } }] })
  },
)
