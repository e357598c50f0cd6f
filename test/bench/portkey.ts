import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../src/build/smoke/machine.ts'
import type { Contender, Place, Running } from './contender.ts'
import { outputOf, startProgram } from './programs.ts'
import type { Workload } from './workloads.ts'

/** The best-known gateway in this language, on Node; fetched for this run and no part of the project. */
export const portkey: Contender = { name: 'portkey', gateway: true, start: startPortkey }

async function startPortkey({ upstream, folder }: Place): Promise<Running | string> {
  const [node, npm] = [Bun.which('node'), Bun.which('npm')]
  if (node === null || npm === null) return 'portkey needs Node and npm.'
  const cwd = join(folder, 'portkey')
  await mkdir(cwd)
  const install = [npm, 'install', '--prefix', cwd, '--no-audit', '--no-fund', '@portkey-ai/gateway']
  // With the settings of this machine, which configure the package source.
  const failed = await outputOf(install, cwd, definedOnly(process.env)).then(() => null, String)
  if (failed !== null) return `portkey could not be fetched: ${failed.slice(0, 200)}`
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const script = join(cwd, 'node_modules/@portkey-ai/gateway/build/start-server.js')
  const environment = { NODE_ENV: 'production' }
  const program = await startProgram([node, script, '--headless', `--port=${port}`], {
    cwd,
    url,
    environment,
  })
  return { ...program, url, headers: ({ provider }) => headersFor(provider, upstream) }
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
