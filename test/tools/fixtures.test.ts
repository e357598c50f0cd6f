import { describe, expect, test } from 'bun:test'
import { fieldsOf } from '../../src/lib/json/json.ts'
import { type AgentFixture, agentNames, readAgentFixture } from '../support/agent-fixture.ts'
import { installedVersion, recordAgent } from './support/record-agent.ts'
import { shapeOf } from './support/request-shape.ts'

test('the shape of a request has the words of the protocol and none of its texts', () => {
  const body = {
    model: 'acme/river',
    instructions: 'Be brief.',
    tools: [{ type: 'function', name: 'read_level', description: 'Reads it.', strict: false }],
    input: [
      { role: 'user', content: 'How high is it?' },
      { type: 'function_call', call_id: 'call_9', name: 'read_level', arguments: '{"river":"Elbe"}' },
      { type: 'function_call_output', call_id: 'call_9', output: 'How high is it?' },
    ],
  }
  expect(shapeOf(body)).toEqual({
    model: 'acme/river',
    instructions: 'instructions-1',
    tools: [{ type: 'function', name: 'read_level', description: 'A description.', strict: false }],
    input: [
      { role: 'user', content: 'content-2' },
      { type: 'function_call', call_id: 'call_id-3', name: 'read_level', arguments: '{"river":"river-4"}' },
      { type: 'function_call_output', call_id: 'call_id-3', output: 'content-2' },
    ],
  })
})

for (const name of agentNames)
  describe(`the fixture of ${name}`, async () => {
    test('contains no sentence of the program', async () => {
      const { program, version, tools, variants } = await readAgentFixture(name)
      const names = variants.map(({ name }) => name)
      const texts = textsOf([program, version, tools, variants]).filter((text) => !names.includes(text))
      expect(texts.length).toBeGreaterThan(100)
      expect(texts.filter((text) => /\s/.test(text.replaceAll('A description.', '')))).toEqual([])
    })

    const installed = installedVersion(name)
    const { version } = await readAgentFixture(name)
    test.skipIf((await installed) !== version)(
      `describes what the program sends, if version ${version} is installed`,
      async () => {
        const [recorded, fixture] = [await recordAgent(name), await readAgentFixture(name)]
        expect(recorded && formOf(recorded)).toEqual(formOf(fixture))
      },
      120_000,
    )
  })

/** All strings in a value. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

/** The tools and the properties of the requests, without the values. */
function formOf({ tools, variants }: AgentFixture) {
  return {
    tools: pathsOf(tools),
    variants: variants.map((variant) => ({ ...variant, ...pathsOfParts(variant) })),
  }
}

function pathsOfParts({ headers, body, conversation }: AgentFixture['variants'][number]) {
  return {
    headers: Object.keys(headers).toSorted(),
    body: pathsOf(body),
    conversation: conversation.map((item) => pathsOf(item)),
  }
}

/** The paths of all properties in a value, in the order of the alphabet. */
function pathsOf(value: unknown, path = ''): string[] {
  const entries = Object.entries(Array.isArray(value) ? { ...value } : fieldsOf(value))
  return entries.flatMap(([key, field]) => [`${path}.${key}`, ...pathsOf(field, `${path}.${key}`)]).toSorted()
}
