import { afterAll, describe, expect, test } from 'bun:test'
import { type Fields, fieldsOf, isObject, listOf } from '../../../src/lib/json/json.ts'
import { startApp } from '../../support/app.ts'
import { storeCompletion } from '../../support/stored-completions.ts'

/** A provider that has what the built-in model does not have. */
const provider = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { input, stream } = fieldsOf(await request.json())
    const usage = { prompt_tokens: 4, completion_tokens: 1, total_tokens: 5 }
    const completion = { choices: [{ index: 0, text: 'Yes.', finish_reason: 'stop' }], usage }
    if (stream === true)
      return new Response(`data: ${JSON.stringify(completion)}\n\ndata: [DONE]\n\n`, {
        headers: { 'content-type': 'text/event-stream' },
      })
    if (input === undefined) return Response.json(completion)
    const inputs = Array.isArray(input) ? input : [input]
    return Response.json({ data: inputs.map((_, index) => ({ index, embedding: [0, 1] })), usage })
  },
})
const base_url = `${provider.url.origin}/v1`
const adminKey = 'an-admin-key-for-tests'
const app = await startApp({
  environment: { WEIR_ADMIN_KEY: adminKey },
  settings: {
    providers: {
      echo: {},
      openai: { base_url, api_key: 'sk-provider-0123456789abcdef' },
      local: { kind: 'vllm', base_url },
    },
    models: [{ slug: 'local/qwen3-coder', routes: [{ provider: 'local', model: 'qwen3-coder' }] }],
  },
})
afterAll(async () => {
  await app.stop()
  await provider.stop(true)
})

/** Sends a change of the operator, and returns the id of its object. */
async function change(method: string, path: string, body: object): Promise<string> {
  const headers = { authorization: `Bearer ${adminKey}` }
  const reply = await app.request(`/admin/${path}`, { method, headers, body })
  return String(fieldsOf(await reply.json()).id)
}

/** What the examples change: not the key and the organization that they use. */
const ids = {
  organization: await change('POST', 'organizations', { name: 'globex' }),
  key: await change('POST', 'keys', { organization: 'globex', name: 'changed' }),
  project: await change('POST', 'projects', { organization: 'globex', name: 'changed' }),
  ...(await createOwn()),
}

/** Objects of the organization of the first key, which then may manage them. */
async function createOwn(): Promise<Readonly<Record<string, string>>> {
  await change('PATCH', 'keys/Test00000000', { permissions: ['admin', 'mint'] })
  const project = await change('POST', 'projects', { organization: 'default', name: 'changed' })
  const key = await change('POST', 'keys', { organization: 'default', project, name: 'changed' })
  return { project_id: project, api_key_id: key, rate_limit_id: 'rl_all_models' }
}

const reply = await app.request('/openapi.json')
const document = fieldsOf(await reply.json())
const operations = Object.entries(fieldsOf(document.paths)).flatMap(([path, methods]) =>
  Object.entries(fieldsOf(methods)).map(([method, value]) => {
    return { name: `${method.toUpperCase()} ${path}`, path, operation: fieldsOf(value) }
  }),
)
const withBody = operations.filter(({ operation }) => operation.requestBody !== undefined)
const examples = withBody.flatMap(({ name, path, operation }) =>
  Object.entries(fieldsOf(bodyOf(operation).examples)).map(([example, described]) => {
    const [method] = name.split(' ')
    return { name: `${example} of ${name}`, method, path, value: fieldsOf(fieldsOf(described).value) }
  }),
)

test('the OpenAPI document, its tags and its security scheme have descriptions', () => {
  const { bearer } = fieldsOf(fieldsOf(document.components).securitySchemes)
  for (const described of [document.info, bearer, ...listOf(document.tags)])
    expect(fieldsOf(described).description).toMatch(/^[A-Z].*\.$/)
})

test.each(operations)('$name has a description of sentences besides its summary', ({ operation }) => {
  expect(operation.description).toMatch(/^[A-Z].*\.$/)
  expect(operation.description).not.toBe(operation.summary)
})

test.each(withBody)('every property of the body of $name has a description', ({ operation }) => {
  const properties = propertiesWithin(bodyOf(operation).schema, '')
  expect(properties.length).toBeGreaterThan(0)
  const undescribed = properties.filter(([, { description }]) => !/^[A-Z`].*\.$/.test(String(description)))
  expect(undescribed.map(([path]) => path)).toEqual([])
})

test.each(withBody)(
  'the description of each bounded number in the body of $name has the bounds',
  (tested) => {
    for (const [path, schema] of propertiesWithin(bodyOf(tested.operation).schema, '')) {
      const bounded = [schema, ...listOf(schema.anyOf).map(fieldsOf)].find(({ type }) => type === 'number')
      if (bounded === undefined) continue
      expect([path, schema.description]).toEqual([path, expect.stringContaining(`rom ${bounded.minimum} to`)])
      expect([path, schema.description]).toEqual([path, expect.stringContaining(` to ${bounded.maximum}`)])
    }
  },
)

test('every operation with a body has examples', () => {
  for (const { name, operation } of withBody)
    expect([name, Object.keys(fieldsOf(bodyOf(operation).examples)).length > 0]).toEqual([name, true])
})

describe.each(examples)('the example $name', ({ method, path, value }) => {
  test('is accepted, and nothing in it is ignored', async () => {
    const { id } = await storeCompletion(app, {
      model: 'weir/echo',
      messages: [{ role: 'user', content: 'Hi' }],
    })
    const filled = Object.entries({ ...ids, completion_id: id }).reduce(
      (text, [name, value]) => text.replace(`{${name}}`, value),
      path,
    )
    const accepted = await app.request(filled, {
      method,
      ...(path.startsWith('/admin/') && { headers: { authorization: `Bearer ${adminKey}` } }),
      body: JSON.stringify(value),
    })
    const text = await accepted.text()
    expect([accepted.status, text]).toEqual([200, expect.not.stringContaining('"warnings"')])
    expect(accepted.headers.get('content-type')).toStartWith(
      value.stream === true ? 'text/event-stream' : 'application/json',
    )
  })
})

function bodyOf(operation: Fields): Fields {
  return fieldsOf(fieldsOf(fieldsOf(operation.requestBody).content)['application/json'])
}

/** Every property of the schema and of the schemas within it, with its path. */
function propertiesWithin(schema: unknown, path: string): (readonly [path: string, property: Fields])[] {
  if (Array.isArray(schema)) return schema.flatMap((choice) => propertiesWithin(choice, path))
  if (!isObject(schema)) return []
  const resolved = typeof schema.$ref === 'string' ? referenced(schema.$ref) : schema
  const own = Object.entries(fieldsOf(resolved.properties)).flatMap(([name, property]) => [
    [`${path}.${name}`, fieldsOf(property)] as const,
    ...propertiesWithin(property, `${path}.${name}`),
  ])
  return [...own, ...propertiesWithin(resolved.anyOf, path), ...propertiesWithin(resolved.items, `${path}[]`)]
}

function referenced(reference: string): Fields {
  return fieldsOf(fieldsOf(fieldsOf(document.components).schemas)[reference.split('/').at(-1) ?? ''])
}
