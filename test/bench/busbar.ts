import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../src/build/installation.ts'
import type { Contender, Place, Running } from './contender.ts'
import { executableIn } from './executable.ts'
import { outputOf, startProgram } from './programs.ts'

/** A gateway in Rust. */
export const busbar: Contender = { name: 'busbar', gateway: true, variable: 'BUSBAR', start: startBusbar }

const environment = { PROVIDER_KEY: 'sk-bench', ADMIN_TOKEN: `bench-${crypto.randomUUID()}` }

async function startBusbar({ upstream, folder }: Place): Promise<Running | string> {
  const executable = executableIn('BUSBAR', 'busbar')
  if ('missing' in executable) return executable.missing
  const cwd = join(folder, 'busbar')
  await mkdir(cwd)
  const [port, adminPort] = [await freePort(), await freePort()]
  await Bun.write(join(cwd, 'signing.key'), await outputOf([executable.path, '--generate-signing-key'], cwd))
  // JSON is YAML, too.
  await Bun.write(join(cwd, 'providers.yaml'), JSON.stringify(providersAt(upstream)))
  await Bun.write(join(cwd, 'config.yaml'), JSON.stringify(settingsFor(port, adminPort)))
  const url = `http://127.0.0.1:${port}`
  const program = await startProgram([executable.path], {
    cwd,
    url: `${url}/healthz`,
    environment: { ...environment, BUSBAR_CONFIG: join(cwd, 'config.yaml') },
  })
  const key = await createKey(adminPort)
  return { ...program, url, headers: () => ({ authorization: `Bearer ${key}` }) }
}

function providersAt(upstream: string): object {
  return {
    chat: { protocol: 'openai', base_url: upstream, error_map: {} },
    anthropic: { protocol: 'anthropic', base_url: upstream, error_map: {} },
    gemini: { protocol: 'gemini', base_url: upstream, error_map: {} },
  }
}

function settingsFor(port: number, adminPort: number): object {
  const api_key = { env: 'PROVIDER_KEY' }
  const model = (provider: string, name: string) => ({ provider, upstream_model: name })
  return {
    listen: `127.0.0.1:${port}`,
    admin_listen: `127.0.0.1:${adminPort}`,
    'identity-providers': { 'admin-tokens': { module: 'admin-tokens', token: { env: 'ADMIN_TOKEN' } } },
    auth: { chain: ['keys'], admin_auth: ['admin-tokens'], signing_key: { file: 'signing.key' } },
    providers: { chat: { api_key }, anthropic: { api_key }, gemini: { api_key } },
    models: {
      'bench/chat': model('chat', 'river-1'),
      'bench/anthropic': model('anthropic', 'brook-1'),
      'bench/gemini': model('gemini', 'spring-1'),
    },
  }
}

async function createKey(adminPort: number): Promise<string> {
  const reply = await fetch(`http://127.0.0.1:${adminPort}/api/v1/admin/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${environment.ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench' }),
  })
  const { token } = (await reply.json()) as { readonly token?: string }
  if (token === undefined) throw new Error(`busbar created no key: status ${reply.status}.`)
  return token
}
