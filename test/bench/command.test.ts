import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { measure, measureRemote } from '../../src/cli/bench/measure.ts'
import { startBenchGateway } from '../../src/cli/bench/gateway.ts'
import { benchText } from '../../src/cli/commands/bench.ts'
import { temporaryHome } from '../unit/config/support/temporary-home.ts'
import { callWeir } from '../cli/support/run-weir.ts'
import { startApp } from '../support/app.ts'
import { projectFolder } from '../support/source.ts'

const program = [process.execPath, join(projectFolder, 'src/main.ts')]
const silent = () => {}

describe('weir bench', () => {
  test('measures its own gateway and leaves nothing behind', async () => {
    const gateway = await startBenchGateway(program)
    const figures = await measure(gateway, silent, 50)
    await gateway[Symbol.asyncDispose]()
    const { reply, first_token } = figures.milliseconds
    for (const { direct, through, added } of [reply, first_token]) {
      expect(direct.p50).toBeGreaterThan(0)
      expect(through.p99).toBeGreaterThanOrEqual(through.p50)
      expect(added.p50).toBeCloseTo(through.p50 - direct.p50, 9)
    }
    if (process.platform === 'linux') expect(figures.processor_microseconds?.chunk).toBeGreaterThan(0)
    expect(benchText(figures)).toMatch(/^MILLISECONDS +DIRECT +THROUGH +ADDED\nresponse, p50 /)
    expect(fetch(`${gateway.url}/livez`)).rejects.toThrow()
    expect(existsSync(`/proc/${gateway.pid}`)).toBe(false)
  })

  test('uses no key and no provider of the environment', async () => {
    await using gateway = await startBenchGateway(program)
    const reply = await fetch(`${gateway.url}/v1/models`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    })
    const { data } = (await reply.json()) as { readonly data: readonly { readonly id: string }[] }
    expect(data.map(({ id }) => id).toSorted()).toEqual(['bench/burst', 'bench/paced', 'bench/plain'])
  })

  test('reports the output of a program that does not start serving', () => {
    const broken = [process.execPath, '-e', 'console.log("out of order")', '--']
    expect(startBenchGateway(broken)).rejects.toThrow('did not start. Its output: out of order')
  })
})

describe('weir bench --against', () => {
  test('measures a running gateway, with few requests and nothing of its process', async () => {
    await using app = await startApp()
    const figures = await measureRemote({ urls: [app.url], key: app.key }, silent, 20)
    expect(figures).toMatchObject({ gateway: app.url, processor_microseconds: null })
    expect(figures.milliseconds.first_token.through.p50).toBeGreaterThan(0)
    expect(benchText(figures)).not.toContain('Processor')
  })

  test('sends the requests to several addresses in turn, and reports each of them', async () => {
    await using first = await startApp()
    await using second = await startApp()
    const urls = [first.url, second.url]
    const figures = await measureRemote({ urls, key: first.key }, silent, 50)
    expect(figures.gateways?.map(({ gateway }) => gateway)).toEqual(urls)
    const [one = 0, two = 0] = figures.gateways?.map(({ requests }) => requests) ?? []
    expect(one).toBeGreaterThan(1)
    // Each of the two measurements may end with either address.
    expect(Math.abs(one - two)).toBeLessThanOrEqual(2)
    for (const { milliseconds } of figures.gateways ?? [])
      expect(milliseconds.first_token.p50).toBeGreaterThan(0)
    const text = benchText(figures)
    expect(text).toContain('sent to 2 addresses in turn')
    for (const url of urls) expect(text).toContain(url)
    expect(
      measureRemote({ urls: [first.url, 'http://127.0.0.1:9'], key: first.key }, silent, 20),
    ).rejects.toThrow('http://127.0.0.1:9 cannot be measured')
  })

  test('names the missing key or model', async () => {
    await using app = await startApp({
      settings: { providers: { acme: { kind: 'vllm', base_url: 'http://127.0.0.1:9/v1' } } },
    })
    expect(measureRemote({ urls: [app.url], key: app.key }, silent, 20)).rejects.toThrow(
      'Enable the provider echo in its settings',
    )
    const other = { urls: [app.url], key: 'sk-weir-000000000000-00000000000000000000000000000000' }
    expect(measureRemote(other, silent, 20)).rejects.toThrow('failed with status 401')
  })

  test.each([
    [['--against', 'acme'], '--against must be a URL'],
    [['--against', 'http://127.0.0.1:9,acme'], '--against must be a URL'],
    [['--against', 'http://127.0.0.1:9'], '--against requires an API key in WEIR_API_KEY'],
  ])('rejects %p as wrong usage', async (args, sentence) => {
    using home = temporaryHome()
    const { code, out, err } = await callWeir(['bench', ...args], home.place('work'))
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toStartWith(sentence)
  })
})
