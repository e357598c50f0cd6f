import { expect, test } from 'bun:test'
import { listen } from '../../../src/cli/serve/listen.ts'
import { defaultSettings } from '../../../src/config/defaults.ts'
import { metricsForbidden } from '../../../src/lib/errors/http-errors.ts'
import { createLog } from '../../../src/lib/log.ts'

test.each([
  ['an error of the API', metricsForbidden(), 403, 'metrics_forbidden'],
  ['any other error', new Error('swordfish'), 500, 'internal_error'],
])(
  'a request for which the application throws %s has its status, and the log has the cause',
  async (_, error, ...expected) => {
    const lines: string[] = []
    const fetchFailing = () => Promise.reject(error)
    const settings = { ...defaultSettings, host: '127.0.0.1', port: 0 }
    await using server = listen(
      { fetch: fetchFailing },
      settings,
      createLog((line) => void lines.push(line)),
    )
    const reply = await fetch(server.url)
    const text = await reply.text()
    expect([reply.status, JSON.parse(text).error.code]).toEqual(expected)
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
    expect(text).not.toContain('swordfish')
    expect(lines.join('\n')).toContain(error.message)
  },
)
