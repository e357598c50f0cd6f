import type { Settings } from '../../config/settings.ts'
import { configureProvider } from './provider-config.ts'
import type { Provider } from '../provider.ts'

/**
 * The engines of this machine that nobody has to configure: Ollama at its usual port, or where `OLLAMA_HOST` has it,
 * unless the settings name an Ollama of their own. They count only while one answers.
 */
export function localEngines(
  { providers }: Pick<Settings, 'providers'>,
  environment: Readonly<Record<string, string | undefined>>,
): Provider[] {
  if (Object.entries(providers).some(([name, { kind = name }]) => kind === 'ollama')) return []
  const address = loopbackAddress(environment.OLLAMA_HOST?.trim() || '127.0.0.1')
  if (address === undefined) return []
  const entry = { base_url: `${address}/v1`, discover: true }
  const { provider } = configureProvider({ name: 'ollama', entry, path: 'providers.ollama', environment })
  return provider ? [provider] : []
}

const usualPort = '11434'

/** Ollama takes a host, a port behind a colon, both, or a whole URL; a server that listens everywhere is here too. */
function loopbackAddress(host: string): string | undefined {
  const withHost = host.startsWith(':') ? `127.0.0.1${host}` : host
  const url = URL.parse(withHost.includes('://') ? withHost : `http://${withHost}`)
  if (url === null) return undefined
  const hostname = ['0.0.0.0', '[::]'].includes(url.hostname) ? '127.0.0.1' : url.hostname
  if (!/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)) return undefined
  return `${url.protocol}//${hostname}:${url.port || usualPort}`
}
