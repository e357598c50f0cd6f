import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { commands, findCommand } from '../../src/cli/run.ts'
import { checkSchema } from '../../src/config/check-schema.ts'
import type { SettingsProblem } from '../../src/config/problem.ts'
import { SettingsFile } from '../../src/config/settings.ts'
import { parseDuration } from '../../src/config/units.ts'
import { fieldsOf } from '../../src/lib/json/json.ts'
import { startApp } from '../support/app.ts'
import { projectFolder, sourceFiles } from '../support/source.ts'

// No test starts containers: the files are compared with the program, the image and each other.

const dockerfile = await read('Dockerfile')
const [, imageUser = ''] = /^USER (\d+:\d+)$/m.exec(dockerfile) ?? []
const [, imagePort = ''] = /WEIR_PORT=(\d+)/.exec(dockerfile) ?? []
const [, connections = ''] = /opens at most (\d+) connections/.exec(await read('docs/postgresql.md')) ?? []
const connectionsOfServer = Number(connections)
const program = (await sourceFiles('src')).map(({ text }) => text).join('\n')

describe('deploy/compose.yaml', async () => {
  const compose = Bun.YAML.parse(await read('deploy/compose.yaml')) as Compose
  const { postgres, caddy, ...others } = compose.services
  const servers = Object.entries(others)

  test('starts three servers by a command of the program, which may drain before they are killed', async () => {
    expect(servers.map(([name]) => name)).toEqual(['weir-1', 'weir-2', 'weir-3'])
    for (const [, server] of servers) {
      await expectServeCommand(server.command)
      expect(drainOf(server.command)).toBeLessThan(parseDuration(server.stop_grace_period ?? '') ?? 0)
      expect([server.image, server.read_only]).toEqual(['${IMAGE:-weir}', true])
      expect(server.tmpfs?.[0]).toContain(`/data:uid=${imageUser.replace(':', ',gid=')}`)
      expect(unreadVariables(server.environment)).toEqual([])
    }
  })

  test('has one database for all of them, with the same user, name and password, and enough connections', () => {
    const { POSTGRES_USER, POSTGRES_DB, POSTGRES_PASSWORD } = postgres?.environment ?? {}
    const url = `postgres://${POSTGRES_USER}:${POSTGRES_PASSWORD}@postgres/${POSTGRES_DB}`
    for (const [, server] of servers) expect(server.environment?.['WEIR_DATABASE']).toBe(url)
    const plain = url.replace(/\$\{.*\}/, 'PASSWORD')
    expect(checkSchema(SettingsFile, { database: plain }, [])).toBe(true)
    const [, connections = ''] = /max_connections=(\d+)/.exec(String(postgres?.command)) ?? []
    expect(Number(connections)).toBeGreaterThan((servers.length + 1) * connectionsOfServer)
    for (const name of Object.keys(compose.volumes ?? {}))
      expect([postgres, caddy].some((service) => String(service?.volumes).includes(`${name}:`))).toBe(true)
  })

  test('has a proxy in front of every server', async () => {
    const caddyfile = await read('deploy/caddy/replicas.Caddyfile')
    const [, targets = ''] = /reverse_proxy (.*) \{/.exec(caddyfile) ?? []
    expect(targets.split(' ')).toEqual(servers.map(([name]) => `${name}:${imagePort}`))
    const mounted = caddy?.volumes?.map((volume) => volume.split(':')[0] ?? '') ?? []
    const files = mounted.filter((path) => path.startsWith('.'))
    expect(files.map((path) => existsSync(join(projectFolder, 'deploy', path)))).toEqual([true])
    expect(Object.keys(caddy?.environment ?? {}).every((name) => caddyfile.includes(`{$${name}:`))).toBe(true)
    const single = await read('deploy/caddy/Caddyfile')
    for (const setting of ['max_size', '@internal', 'response_header_timeout', 'keepalive'])
      expect(lineOf(caddyfile, setting)).toBe(lineOf(single, setting))
    // With -1, Caddy would not end the request of a client that has left (caddyserver/caddy#4952).
    for (const text of [caddyfile, single]) expect(text).not.toMatch(/^\s*flush_interval/m)
    await expectProbes(lineOf(caddyfile, 'health_uri').split(' ').slice(1))
  })

  test('needs no secret that is in the repository', async () => {
    const ignored = (await read('.gitignore')).split('\n')
    expect(ignored).toContain('.env')
    expect(ignored).toContain('*.env')
    expect(JSON.stringify(compose).match(/PASSWORD":"[^$]/g)).toBeNull()
  })
})

describe('deploy/kubernetes/weir.yaml', async () => {
  // A list of documents is an array.
  const documents = Bun.YAML.parse(await read('deploy/kubernetes/weir.yaml')) as readonly Manifest[]
  const find = (kind: string) => fieldsOf(documents.find((document) => document.kind === kind))
  const deployment = find('Deployment')['spec'] as DeploymentSpec
  const pod = deployment.template.spec
  const [container] = pod.containers

  test('starts three servers by a command of the program, which may drain before they are killed', async () => {
    expect(deployment.replicas).toBe(3)
    await expectServeCommand(container.args)
    const preStopMs = container.lifecycle.preStop.sleep.seconds * 1000
    expect(preStopMs + drainOf(container.args)).toBeLessThan(pod.terminationGracePeriodSeconds * 1000)
    expect(
      unreadVariables(Object.fromEntries(container.env.map(({ name, value }) => [name, value]))),
    ).toEqual([])
  })

  test('probes paths that a gateway has, on the port of the image', async () => {
    const { startupProbe, readinessProbe, livenessProbe } = container
    const probes = [startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet)
    await expectProbes(probes.map(({ path }) => path))
    expect(readinessProbe.httpGet.path).toBe('/readyz')
    expect(livenessProbe.httpGet.path).toBe('/livez')
    expect(probes.map(({ port }) => port)).toEqual(['http', 'http', 'http'])
    expect(container.ports).toEqual([{ name: 'http', containerPort: Number(imagePort) }])
  })

  test('runs as the user of the image, without rights', () => {
    const [user, group] = imageUser.split(':').map(Number)
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: user, runAsGroup: group })
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(container.volumeMounts.map(({ name }) => name).toSorted()).toEqual(
      pod.volumes.map(({ name }) => name).toSorted(),
    )
  })

  test('has valid settings, which the program is pointed to', () => {
    const text = String(fieldsOf(find('ConfigMap')['data'])['weir.yaml'])
    const settings = Bun.YAML.parse(text)
    const problems: SettingsProblem[] = []
    expect([checkSchema(SettingsFile, settings, problems), problems]).toEqual([true, []])
    expect(container.env).toEqual([{ name: 'WEIR_CONFIG', value: '/etc/weir/weir.yaml' }])
    expect(container.volumeMounts).toContainEqual({
      name: 'settings',
      mountPath: '/etc/weir',
      readOnly: true,
    })
  })

  test('selects the pods of the deployment in the service and in the budget', () => {
    const { labels } = deployment.template.metadata
    expect(deployment.selector.matchLabels).toEqual(labels)
    expect(find('Service')['spec']).toMatchObject({ selector: labels, ports: [{ targetPort: 'http' }] })
    expect(find('PodDisruptionBudget')['spec']).toEqual({
      maxUnavailable: 1,
      selector: { matchLabels: labels },
    })
  })
})

type Service = {
  readonly image: string
  readonly read_only?: boolean
  readonly command?: readonly string[]
  readonly stop_grace_period?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly tmpfs?: readonly string[]
}

type Compose = {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes?: Readonly<Record<string, unknown>>
}

type Manifest = { readonly kind: string }

type Probe = { readonly httpGet: { readonly path: string; readonly port: string } }

type DeploymentSpec = {
  readonly replicas: number
  readonly selector: { readonly matchLabels: object }
  readonly template: {
    readonly metadata: { readonly labels: object }
    readonly spec: {
      readonly terminationGracePeriodSeconds: number
      readonly securityContext: object
      readonly volumes: readonly { readonly name: string }[]
      readonly containers: readonly [
        {
          readonly args: readonly string[]
          readonly env: readonly { readonly name: string; readonly value: string }[]
          readonly ports: readonly object[]
          readonly startupProbe: Probe
          readonly readinessProbe: Probe
          readonly livenessProbe: Probe
          readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } }
          readonly securityContext: object
          readonly volumeMounts: readonly {
            readonly name: string
            readonly mountPath: string
            readonly readOnly?: boolean
          }[]
        },
      ]
    }
  }
}

function read(path: string): Promise<string> {
  return Bun.file(join(projectFolder, path)).text()
}

function lineOf(text: string, word: string): string {
  return (
    text
      .split('\n')
      .find((line) => line.trim().startsWith(`${word} `))
      ?.trim() ?? ''
  )
}

/** Checks that the first word is a command, and the others are flags that its help explains, with values. */
async function expectServeCommand(words: readonly string[] = []): Promise<void> {
  const [name = '', ...rest] = words
  expect(commands.map((command) => command.name)).toContain(name)
  const { usage } = await findCommand(name)
  const flags = rest.filter((word) => word.startsWith('--'))
  expect(flags.filter((flag) => !usage.includes(`\n  ${flag} `))).toEqual([])
}

function drainOf(words: readonly string[] = []): number {
  return parseDuration(words[words.indexOf('--drain') + 1] ?? '') ?? Number.NaN
}

/** The variables that the program does not read. */
function unreadVariables(environment: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.keys(environment).filter((name) => !program.includes(`environment.${name}`))
}

async function expectProbes(paths: readonly string[]): Promise<void> {
  expect(paths.length).toBeGreaterThan(0)
  await using app = await startApp()
  for (const path of paths) expect((await fetch(app.url + path)).status).toBe(200)
}
