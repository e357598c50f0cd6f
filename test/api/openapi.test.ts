import { afterAll, describe, expect, test } from 'bun:test'
import { Compile } from 'typebox/compile'
import { ChatCompletion, ChatCompletionChunk } from '../../src/chat/reply-schema.ts'
import { chatRequest } from '../../src/chat/schema.ts'
import { openApiDocument } from '../../src/http/openapi.ts'
import { type Fields, fieldsOf, isObject, listOf } from '../../src/lib/json.ts'
import { ModelList } from '../../src/models/schema.ts'
import { startApp } from '../support/app.ts'

const app = await startApp()
afterAll(app.stop)

const reply = await app.request('/openapi.json', { headers: { authorization: null } })
const document = fieldsOf(await reply.json())
const operations = Object.entries(fieldsOf(document.paths)).flatMap(([path, methods]) =>
  Object.entries(fieldsOf(methods)).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    path,
    operation: fieldsOf(operation),
  })),
)

/** The operations with all the statuses that they tell; a change of the interface changes this list. */
const interfaceNow = {
  'GET /livez': [200],
  'GET /openapi.json': [200],
  'GET /readyz': [200, 503],
  'GET /v1/models': [200, 401, 403, 429, 500, 503],
  'GET /v1/models/{id}': [200, 401, 403, 404, 429, 500, 503],
  'POST /v1/chat/completions': [200, 400, 401, 402, 403, 404, 408, 413, 415, 429, 500, 502, 503],
}

test('the document needs no key and is JSON', () => {
  expect(reply.status).toBe(200)
  expect(reply.headers.get('content-type')).toBe('application/json')
  expect(document.openapi).toBe('3.1.0')
  expect(document.info).toMatchObject({ title: 'Weir', version: '1.0.0' })
})

test('these operations exist, with these statuses', () => {
  const told = operations.map(({ name, operation }) => [
    name,
    Object.keys(fieldsOf(operation.responses)).map(Number),
  ])
  expect(Object.fromEntries(told)).toEqual(interfaceNow)
})

test('every route is in the document, and nothing else', () => {
  const routes = app.runtime.routes().filter(({ method }) => method !== 'ALL')
  const served = routes.map(({ method, path }) => `${method} ${path.replace('*', '{id}')}`)
  expect(operations.map(({ name }) => name).toSorted()).toEqual(served.toSorted())
})

test('every reference leads to a schema, and every schema is used', () => {
  const references = fieldsWithin(document).flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : []))
  const schemas = Object.keys(fieldsOf(fieldsOf(document.components).schemas))
  expect(schemas).toContain('Error')
  expect([...new Set(references)].toSorted()).toEqual(schemas.map((name) => `#/components/schemas/${name}`))
})

describe.each(operations)('$name', ({ path, operation }) => {
  test('says what it is, under a tag that the document knows', () => {
    const tags = listOf(document.tags).map((tag) => fieldsOf(tag).name)
    expect(operation.summary).toMatch(/^[A-Z].*[^.]$/)
    expect(operation.operationId).toMatch(/^[a-z][A-Za-z]+$/)
    expect(listOf(operation.tags).length).toBe(1)
    expect(tags).toEqual(expect.arrayContaining([...listOf(operation.tags)]))
  })

  test('describes each parameter of its path', () => {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
    const parameters = listOf(operation.parameters).map(fieldsOf)
    expect(parameters.map(({ name }) => name)).toEqual(inPath)
    for (const parameter of parameters) expect(parameter).toMatchObject({ in: 'path', required: true })
  })

  test('has a schema for every reply, that of the error body for errors', () => {
    for (const [status, reply] of Object.entries(fieldsOf(operation.responses))) {
      const { description, content } = fieldsOf(reply)
      const { schema } = fieldsOf(fieldsOf(content)['application/json'])
      expect(description).toMatch(/^[A-Z].*\.$/)
      if (Number(status) >= 400) expect(schema).toEqual({ $ref: '#/components/schemas/Error' })
      else expect(isObject(schema)).toBe(true)
    }
  })
})

test('names of operations are not given twice', () => {
  const names = operations.map(({ operation }) => operation.operationId)
  expect(new Set(names).size).toBe(names.length)
})

test('a key is asked for by the interface, not by the system routes', () => {
  expect(document.security).toEqual([{ bearer: [] }])
  const schemes = fieldsOf(fieldsOf(document.components).securitySchemes)
  expect(schemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' })
  const open = operations.filter(({ operation }) => operation.security !== undefined)
  for (const { operation } of open) expect(operation.security).toEqual([])
  expect(open.map(({ path }) => path).toSorted()).toEqual(['/livez', '/openapi.json', '/readyz'])
})

test('the schema of a request is the one that validates it', () => {
  const { requestBody } = operationOf('POST /v1/chat/completions')
  expect(requestBody).toMatchObject({ required: true })
  expect(resolved(jsonIn(requestBody))).toEqual(JSON.parse(JSON.stringify(chatRequest.schema)))
})

test('the schemas of the replies are those that the replies are checked with', () => {
  const plain = (schema: object) => JSON.parse(JSON.stringify(schema))
  const chat = fieldsOf(operationOf('POST /v1/chat/completions').responses)['200']
  expect(resolved(jsonIn(chat))).toEqual(plain(ChatCompletion))
  const frames = fieldsOf(fieldsOf(chat).content)['text/event-stream']
  expect(resolved(fieldsOf(frames).schema)).toEqual(plain(ChatCompletionChunk))
  expect(resolved(jsonIn(fieldsOf(operationOf('GET /v1/models').responses)['200']))).toEqual(plain(ModelList))
})

test('every schema can be compiled, and only objects are named', () => {
  for (const schema of Object.values(fieldsOf(fieldsOf(document.components).schemas))) {
    expect(schema).toMatchObject({ type: 'object' })
    expect(Compile(fieldsOf(resolved(schema))).Check(null)).toBe(false)
  }
})

test('the replies of a real app fit what the document says of them', async () => {
  const operationsNow = Object.entries(interfaceNow).filter(([name]) => name.startsWith('GET '))
  for (const [name] of operationsNow) {
    const answer = await app.request(name.slice(4).replace('{id}', 'weir/echo'))
    const { responses } = operationOf(name)
    const schema = resolved(jsonIn(fieldsOf(responses)[String(answer.status)]))
    expect(Compile(fieldsOf(schema)).Check(await answer.json())).toBe(true)
  }
})

test('two schemas of one title are refused, one schema twice is not', () => {
  const route = (path: string, schema: object) => {
    return { method: 'POST', path, hooks: { body: { schema: { title: 'One', ...schema } } } }
  }
  const first = route('/a', { type: 'object' })
  expect(() => openApiDocument([first, route('/b', { type: 'string' })])).toThrow('One')
  expect(openApiDocument([first, route('/b', { type: 'object' })])).toMatchObject({
    components: { schemas: { One: { type: 'object' } } },
  })
})

function operationOf(name: string): Fields {
  return fieldsOf(operations.find((operation) => operation.name === name)?.operation)
}

function jsonIn(holder: unknown): unknown {
  return fieldsOf(fieldsOf(fieldsOf(holder).content)['application/json']).schema
}

/** Every object in the value, itself too. */
function fieldsWithin(value: unknown): Fields[] {
  if (Array.isArray(value)) return value.flatMap(fieldsWithin)
  return isObject(value) ? [value, ...Object.values(value).flatMap(fieldsWithin)] : []
}

/** The schema with each reference replaced by what it leads to. */
function resolved(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(resolved)
  if (!isObject(schema)) return schema
  if (typeof schema.$ref !== 'string') {
    return Object.fromEntries(Object.entries(schema).map(([name, field]) => [name, resolved(field)]))
  }
  const target = fieldsOf(fieldsOf(document.components).schemas)[schema.$ref.split('/').at(-1) ?? '']
  return resolved(target)
}
