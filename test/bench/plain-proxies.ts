import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../src/build/installation.ts'
import { startServing } from '../reliability/load/program.ts'
import type { Contender, Place, Running } from './contender.ts'
import { startProgram } from './programs.ts'

const noHeaders = () => ({})
const production = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535', NODE_ENV: 'production' }

/** The provider alone: what the others are compared with. */
export const direct: Contender = {
  name: 'direct',
  gateway: false,
  start: async ({ upstream }) => ({ url: upstream, pid: null, headers: noHeaders, stop: async () => {} }),
}

/** Proxies of `Bun.serve` and `fetch` and nothing else; see `bun-proxy.ts`. */
export const bareProxies: readonly Contender[] = (['pipe', 'read', 'parse'] as const).map((mode) => ({
  name: `bun-${mode}`,
  gateway: false,
  start: ({ upstream }) => startBareProxy(mode, upstream),
}))

async function startBareProxy(mode: string, upstream: string): Promise<Running> {
  const serving = await startServing(['test/bench/bun-proxy.ts', mode, upstream], production)
  return { ...serving, headers: noHeaders, stop: async () => void (await serving[Symbol.asyncDispose]()) }
}

/** The least that a gateway on the libraries of Weir takes for a chat; see `least-gateway.ts`. */
export const leastGateways: readonly Contender[] = (['unmetered', 'prepaid'] as const).map((billing) => ({
  name: `least-${billing}`,
  gateway: true,
  chatOnly: true,
  start: async ({ upstream, folder }) => {
    const cwd = join(folder, `least-${billing}`)
    await mkdir(cwd)
    const serving = await startServing(['test/bench/least-gateway.ts', billing, upstream, cwd], production)
    const headers = () => ({ authorization: 'Bearer sk-bench' })
    return { ...serving, headers, stop: async () => void (await serving[Symbol.asyncDispose]()) }
  },
}))

/** A plain reverse proxy of one process. */
export const nginx: Contender = { name: 'nginx', gateway: false, start: startNginx }

async function startNginx({ upstream, folder }: Place): Promise<Running | string> {
  const executable = Bun.which('nginx', { PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` })
  if (executable === null) return 'nginx is not installed.'
  const port = await freePort()
  const cwd = join(folder, 'nginx')
  await mkdir(cwd)
  await Bun.write(join(cwd, 'nginx.conf'), nginxSettings(port, new URL(upstream).host))
  const url = `http://127.0.0.1:${port}`
  const program = await startProgram([executable, '-p', cwd, '-c', 'nginx.conf', '-e', 'error.log'], {
    cwd,
    url,
  })
  return { ...program, url, headers: noHeaders }
}

function nginxSettings(port: number, upstream: string): string {
  return `daemon off;
master_process off;
pid nginx.pid;
worker_rlimit_nofile 20000;
events { worker_connections 19000; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  client_max_body_size 64m;
  client_body_buffer_size 2m;
  keepalive_requests 1000000000;
  upstream provider { server ${upstream}; keepalive 6000; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header connection "";
      proxy_buffering off;
    }
  }
}
`
}
