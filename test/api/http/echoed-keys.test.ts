import { expect, test } from 'bun:test'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'

const key = '0f9a1b2c3d4e5f60718293a4b5c6d7e8'
const refusal = json({ error: { message: `Your subscription ${key} takes no images.` } }, { status: 400 })

test.each([
  ['as api_key', { api_key: key }],
  ['in a header', { api_key: undefined, headers: { Authorization: `Bearer ${key}`, 'x-team': 'research' } }],
])(
  'a configured key of no known format, set %s, is redacted when the provider repeats it',
  async (_, acme) => {
    await using scenario = await startScenario([refusal], { acme })
    const reply = await (await scenario.app.chat(chatRequest)).text()
    expect(scenario.acme.requests).toHaveLength(1)
    expect(reply).toContain('takes no images')
    expect(reply).not.toContain(key)
    expect(scenario.app.lines.join()).not.toContain(key)
  },
)
