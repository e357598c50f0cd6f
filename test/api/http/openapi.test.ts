import { afterAll, describe, expect, test } from 'bun:test'
import { Compile } from 'typebox/compile'
import { ChatCompletion, ChatCompletionChunk } from '../../../src/api/chat-completions/reply-schema.ts'
import { chatRequest } from '../../../src/api/chat-completions/schema.ts'
import { openApiDocument } from '../../../src/http/openapi.ts'
import { type Fields, fieldsOf, isObject, listOf } from '../../../src/lib/json/json.ts'
import { Type } from 'typebox'
import { AnthropicModelList } from '../../../src/api/models/render.ts'
import { ModelList } from '../../../src/http/objects/model.ts'
import { ResponseStreamEvent } from '../../../src/api/responses/render/event-schema.ts'
import { ResponseObject } from '../../../src/api/responses/render/reply-schema.ts'
import { responseRequest } from '../../../src/api/responses/request/schema.ts'
import { startApp } from '../../support/app.ts'
import { createResponse } from '../../support/responses.ts'
import { storeCompletion } from '../../support/stored-completions.ts'
import { interfaceNow } from '../support/openapi-interface.ts'

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

test('the OpenAPI document requires no key and is JSON', () => {
  expect(reply.status).toBe(200)
  expect(reply.headers.get('content-type')).toBe('application/json')
  expect(document.openapi).toBe('3.1.0')
  expect(document.info).toMatchObject({ title: 'Weir', version: '1.0.0' })
})

test('the OpenAPI document has these operations with these statuses', () => {
  const received = operations.map(({ name, operation }) => [
    name,
    Object.keys(fieldsOf(operation.responses)).map(Number),
  ])
  expect(Object.fromEntries(received)).toEqual(interfaceNow)
})

test('every route is in the OpenAPI document, and nothing else', () => {
  const routes = app.runtime.routes().filter(({ method }) => method !== 'ALL')
  const served = routes.map(
    ({ method, path }) => `${method} ${path.replace('*', '{id}').replace(/:(\w+)/g, '{$1}')}`,
  )
  expect(operations.map(({ name }) => name).toSorted()).toEqual(served.toSorted())
})

test('the errors of the Messages API have the body of that API', () => {
  for (const name of ['POST /v1/messages', 'POST /v1/messages/count_tokens']) {
    const schema = jsonIn(fieldsOf(operationOf(name).responses)['401'])
    expect(schema).toEqual({ $ref: '#/components/schemas/AnthropicError' })
  }
})

test('every reference of the OpenAPI document leads to a schema, and every schema is used', () => {
  const references = fieldsWithin(document).flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : []))
  const schemas = Object.keys(fieldsOf(fieldsOf(document.components).schemas))
  expect(schemas).toContain('Error')
  expect([...new Set(references)].toSorted()).toEqual(schemas.map((name) => `#/components/schemas/${name}`))
})

describe.each(operations)('$name', ({ path, operation }) => {
  test('has a description and a known tag', () => {
    const tags = listOf(document.tags).map((tag) => fieldsOf(tag).name)
    expect(operation.summary).toMatch(/^[A-Z].*[^.]$/)
    expect(operation.operationId).toMatch(/^[a-z][A-Za-z]+$/)
    expect(listOf(operation.tags).length).toBe(1)
    expect(tags).toEqual(expect.arrayContaining([...listOf(operation.tags)]))
  })

  test('describes each parameter of its path', () => {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
    const parameters = listOf(operation.parameters).map(fieldsOf)
    const ofPath = parameters.filter((parameter) => parameter.in === 'path')
    expect(ofPath.map(({ name }) => name)).toEqual(inPath)
    for (const parameter of ofPath) expect(parameter).toMatchObject({ required: true })
  })

  test('describes each query parameter in a sentence, with a schema that compiles', () => {
    const parameters = listOf(operation.parameters).map(fieldsOf)
    for (const parameter of parameters.filter(({ in: place }) => place !== 'path')) {
      expect(parameter).toMatchObject({ in: 'query', required: false })
      expect(parameter.description).toMatch(/^[A-Z].*\.$/)
      expect(fieldsOf(parameter.schema)).not.toHaveProperty('description')
      expect(Compile(fieldsOf(parameter.schema)).Check([])).toBe(false)
    }
  })

  test('has a schema for every reply, and that of the error body for errors', () => {
    for (const [status, reply] of Object.entries(fieldsOf(operation.responses))) {
      const { description, content } = fieldsOf(reply)
      const { schema } = fieldsOf(Object.values(fieldsOf(content))[0])
      expect(description).toMatch(/^[A-Z].*\.$/)
      const errorSchema = path.startsWith('/v1/messages') ? 'AnthropicError' : 'Error'
      if (Number(status) >= 400) expect(schema).toEqual({ $ref: `#/components/schemas/${errorSchema}` })
      else expect(isObject(schema)).toBe(true)
    }
  })
})

test('the query of the stored completions is described as it is parsed', () => {
  const { parameters } = operationOf('GET /v1/chat/completions')
  const byName = Object.fromEntries(
    listOf(parameters).map((parameter) => [fieldsOf(parameter).name, parameter]),
  )
  expect(Object.keys(byName)).toEqual(['model', 'after', 'limit', 'order', 'metadata'])
  expect(byName.limit).toMatchObject({ schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 } })
  expect(byName.order).toMatchObject({ schema: { enum: ['asc', 'desc'], default: 'asc' } })
  expect(byName.metadata).toMatchObject({ style: 'deepObject', explode: true, schema: { type: 'object' } })
})

test('operation ids are unique', () => {
  const names = operations.map(({ operation }) => operation.operationId)
  expect(new Set(names).size).toBe(names.length)
})

test('the API routes require a key, and the system routes do not', () => {
  expect(document.security).toEqual([{ bearer: [] }])
  const schemes = fieldsOf(fieldsOf(document.components).securitySchemes)
  expect(schemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' })
  const open = operations.filter(({ operation }) => operation.security !== undefined)
  for (const { operation } of open) expect(operation.security).toEqual([])
  expect(open.map(({ path }) => path).toSorted()).toEqual(['/livez', '/metrics', '/openapi.json', '/readyz'])
})

test.each([
  ['POST /v1/chat/completions', chatRequest],
  ['POST /v1/responses', responseRequest],
])('the schema of %s is the one that validates it', (name, { schema }) => {
  const { requestBody } = operationOf(name)
  expect(requestBody).toMatchObject({ required: true })
  expect(resolved(jsonIn(requestBody))).toEqual(JSON.parse(JSON.stringify(schema)))
})

test.each([
  ['POST /admin/keys', true],
  ['POST /admin/keys/{key}/rotate', false],
])('the document says whether the body of %s is required', (name, required) => {
  expect(fieldsOf(operationOf(name).requestBody).required).toBe(required)
})

test.each([
  ['POST /v1/chat/completions', ChatCompletion, ChatCompletionChunk, '`data: [DONE]`'],
  ['POST /v1/responses', ResponseObject, ResponseStreamEvent, '`response.completed`'],
  ['GET /v1/responses/{id}', ResponseObject, ResponseStreamEvent, '`response.completed`'],
])(
  'the reply of %s has the schemas that it is checked with, and documents the end of its stream',
  (name, complete, frame, end) => {
    const reply = fieldsOf(fieldsOf(operationOf(name).responses)['200'])
    expect(resolved(jsonIn(reply))).toEqual(plain(complete))
    const frames = fieldsOf(fieldsOf(reply.content)['text/event-stream'])
    expect(resolved(frames.schema)).toEqual(plain(frame))
    expect(reply.description).toContain(`event stream that ends with ${end}`)
  },
)

test('the schema of the models is the one that they are checked with', () => {
  const lists = Type.Union([ModelList, AnthropicModelList])
  expect(resolved(jsonIn(fieldsOf(operationOf('GET /v1/models').responses)['200']))).toEqual(plain(lists))
})

test('every schema compiles, and only objects and unions of them are named', () => {
  for (const schema of Object.values(fieldsOf(fieldsOf(document.components).schemas))) {
    const { anyOf = [schema] } = fieldsOf(schema)
    for (const choice of listOf(anyOf)) expect(resolved(choice)).toMatchObject({ type: 'object' })
    expect(Compile(fieldsOf(resolved(schema))).Check(null)).toBe(false)
  }
})

test('the replies of a real app match the OpenAPI document', async () => {
  const messages = [{ role: 'user', content: 'Hello' }]
  const { id } = await storeCompletion(app, { model: 'weir/echo', messages, metadata: { kept: 'yes' } })
  const response = await createResponse(app, { model: 'weir/echo' })
  const operationsNow = Object.entries(interfaceNow).filter(([name]) => name.startsWith('GET '))
  for (const [name] of operationsNow) {
    const own = name.includes('responses') ? response.id : 'weir/echo'
    const path = name.slice(4).replace('{id}', own).replace('{completion_id}', id)
    const providerReply = await app.request(path)
    const { content } = fieldsOf(fieldsOf(operationOf(name).responses)[String(providerReply.status)])
    const [mediaType = '', received] = Object.entries(fieldsOf(content))[0] ?? []
    expect(providerReply.headers.get('content-type')).toStartWith(mediaType)
    const body = mediaType === 'application/json' ? await providerReply.json() : await providerReply.text()
    expect(Compile(fieldsOf(resolved(fieldsOf(received).schema))).Check(body)).toBe(true)
  }
})

test('two schemas with one title are rejected, one schema twice is not', () => {
  const route = (path: string, schema: object) => {
    const content = { 'application/json': { schema: { title: 'One', ...schema } } }
    return { method: 'POST', path, hooks: { detail: { requestBody: { content } } } }
  }
  const first = route('/a', { type: 'object' })
  expect(() => openApiDocument([first, route('/b', { type: 'string' })])).toThrow('One')
  expect(openApiDocument([first, route('/b', { type: 'object' })])).toMatchObject({
    components: { schemas: { One: { type: 'object' } } },
  })
})

function plain(schema: object): unknown {
  return JSON.parse(JSON.stringify(schema))
}

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
