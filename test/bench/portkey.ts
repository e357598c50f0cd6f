import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../src/build/installation.ts'
import type { Contender, Place, Running } from './contender.ts'
import { outputOf, startProgram } from './programs.ts'
import type { Workload } from './workload.ts'

/** The best-known gateway in this language, on Node; downloaded for this run and no part of the project. */
export const portkey: Contender = { name: 'portkey', gateway: true, start: startPortkey }

/** The server libraries are those of its lock file: with the newest that its manifest allows, its streams break. */
const manifest = {
  private: true,
  dependencies: { '@portkey-ai/gateway': '1.15.2' },
  overrides: { hono: '4.9.7', '@hono/node-server': '1.13.5' },
}

async function startPortkey({ upstream, folder, downloads }: Place): Promise<Running | string> {
  const [node, npm] = [Bun.which('node'), Bun.which('npm')]
  if (node === null || npm === null) return 'portkey needs Node and npm.'
  const installed = join(downloads, 'portkey')
  const failed = await install(npm, installed).then(() => null, String)
  if (failed !== null) return `portkey could not be downloaded: ${failed.slice(0, 200)}`
  const cwd = join(folder, 'portkey')
  await mkdir(cwd, { recursive: true })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const script = join(installed, 'node_modules/@portkey-ai/gateway/build/start-server.js')
  const program = await startProgram([node, script, '--headless', `--port=${port}`], {
    cwd,
    url,
    environment: { NODE_ENV: 'production' },
  })
  return { ...program, url, headers: ({ provider }) => headersFor(provider, upstream) }
}

/** Installs it once for the whole run. */
async function install(npm: string, folder: string): Promise<void> {
  if (existsSync(join(folder, 'node_modules'))) return
  await mkdir(folder, { recursive: true })
  await Bun.write(join(folder, 'package.json'), JSON.stringify(manifest))
  // With the settings of this machine, which configure the package source.
  const environment = definedOnly(process.env)
  await outputOf([npm, 'install', '--no-audit', '--no-fund'], folder, environment)
}

/** The provider headers of every request; the path that is appended differs by provider. */
function headersFor(provider: Workload['provider'], upstream: string): Record<string, string> {
  const base = provider === 'google' ? '/v1beta' : '/v1'
  return {
    authorization: 'Bearer sk-bench',
    'x-portkey-provider': provider,
    'x-portkey-custom-host': upstream + base,
  }
}

function definedOnly(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const defined = Object.entries(environment).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined) as Record<string, string>
}
