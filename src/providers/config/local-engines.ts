import type { Settings } from '../../config/settings.ts'
import { configureProvider } from './provider-config.ts'
import type { Environment } from './provider-config-input.ts'
import type { Provider } from '../provider.ts'

/**
 * The engines of this machine that need no configuration: Ollama at its default port or at `OLLAMA_HOST`, unless the
 * settings configure an Ollama provider. They may not be running.
 */
export function localEngines(
  { providers }: Pick<Settings, 'providers'>,
  environment: Environment,
): Provider[] {
  if (Object.entries(providers).some(([name, { kind = name }]) => kind === 'ollama')) return []
  const address = loopbackAddress(environment.OLLAMA_HOST?.trim() || '127.0.0.1')
  if (address === undefined) return []
  const entry = { base_url: `${address}/v1`, discover: true }
  const { provider } = configureProvider({ name: 'ollama', entry, path: 'providers.ollama', environment })
  return provider ? [provider] : []
}

const defaultPort = '11434'

/** `OLLAMA_HOST` is a host, a colon and a port, both, or a URL; a server that listens on all addresses is local too. */
function loopbackAddress(host: string): string | undefined {
  const withHost = host.startsWith(':') ? `127.0.0.1${host}` : host
  const url = URL.parse(withHost.includes('://') ? withHost : `http://${withHost}`)
  if (url === null) return undefined
  const hostname = ['0.0.0.0', '[::]'].includes(url.hostname) ? '127.0.0.1' : url.hostname
  if (!/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)) return undefined
  return `${url.protocol}//${hostname}:${url.port || defaultPort}`
}
