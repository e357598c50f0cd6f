import { Elysia } from 'elysia'
import { isDeepStrictEqual } from 'node:util'
import type { AdminPermission } from '../domain/accounting/organization.ts'
import { fieldsOf, type Json, type JsonObject, listOf } from '../lib/json/json.ts'
import { isReading } from './cors.ts'
import { describe, type Tag } from './describe.ts'
import { FreeObject } from './schema.ts'

/** A route as Elysia lists it, with its description in the hooks. */
type DescribedRoute = { readonly method: string; readonly path: string; readonly hooks: unknown }

const detail = describe({
  tag: 'System',
  id: 'getOpenApi',
  summary: 'Get the OpenAPI document',
  description: 'Returns this document.',
  reply: FreeObject,
  errors: [],
  unauthenticated: true,
})

/** `GET /openapi.json`: the document of these routes and of this one. Added after all routes that it describes. */
export function openApi(routes: readonly DescribedRoute[]) {
  let document: string | undefined
  const plugin = new Elysia({ name: 'openapi' }).get(
    '/openapi.json',
    ({ set }) => {
      set.headers['content-type'] = 'application/json'
      return (document ??= JSON.stringify(openApiDocument(described)))
    },
    { detail },
  )
  // A copy: Elysia appends to its list, and later routes only reject requests.
  const described: readonly DescribedRoute[] = [...routes, ...plugin.routes]
  return plugin
}

/** Renders the OpenAPI document of the routes. */
export function openApiDocument(routes: readonly DescribedRoute[]): JsonObject {
  const components = createComponents()
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    const operation = operationOf(route)
    const operations = (paths[templateOf(route.path, operation)] ??= {})
    operations[route.method.toLowerCase()] = components.hoist(operation)
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Weir', version: '1.0.0', description: apiDescription },
    security: [{ bearer: [] }],
    tags: tagsOf(paths),
    paths,
    components: {
      schemas: components.schemas(),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key of the gateway, such as sk-weir-….',
        },
      },
    },
  }
}

const apiDescription =
  'An inference gateway that serves the models of many providers behind one OpenAI-compatible API. Any OpenAI client ' +
  'works with the base URL of the gateway and one of its API keys. Every response has the ID of its request in the ' +
  'header `x-request-id`. Errors have a message for people and a code for programs.'

/** The operation that the route describes; one of the admin API with the permission that its guard requires, or its own. */
function operationOf(route: DescribedRoute): JsonObject {
  // Through JSON, which drops the symbols and functions of the schemas.
  const operation: JsonObject = JSON.parse(JSON.stringify(fieldsOf(fieldsOf(route.hooks).detail)))
  const isAdmin = listOf(operation.tags).includes('Admin' satisfies Tag)
  if (!isAdmin || String(operation.description).includes('with the permission')) return operation
  const permission: AdminPermission = isReading(route) ? 'read' : 'write'
  const description = `${operation.description} Requires an admin key with the permission \`${permission}\`.`
  return { ...operation, description }
}

/** The path with its parameters in braces; a wildcard takes the name of the last path parameter. */
function templateOf(path: string, operation: JsonObject): string {
  const parameters = listOf(operation.parameters).map(fieldsOf)
  const last = parameters.findLast((parameter) => parameter.in === 'path')?.name
  return path.replace(/:(\w+)/g, '{$1}').replace('*', `{${last}}`)
}

const tagDescriptions: Record<Tag, string> = {
  Models: 'The enabled models, with their capabilities and prices.',
  Chat: 'Chat completions, and those that were stored.',
  Responses: 'Responses, also in the background, and those that were stored.',
  Messages: 'Messages, as in the Anthropic API.',
  Completions: 'Completions of prompts, without a conversation.',
  Embeddings: 'Embeddings of texts.',
  Organization: 'The usage and the costs of an organization.',
  Admin: 'The administration of the gateway, with an admin key as the bearer token.',
  System: 'Probes, metrics and this document.',
}

function tagsOf(paths: Readonly<Record<string, JsonObject>>): Json[] {
  const operations = Object.values(paths).flatMap((operations) => Object.values(operations))
  const used = new Set(operations.flatMap((operation) => listOf(fieldsOf(operation).tags)))
  const tags = Object.entries(tagDescriptions).map(([name, description]) => ({ name, description }))
  return tags.filter(({ name }) => used.has(name))
}

/** The schemas of the document that have a title. */
type Components = {
  /** Returns the value with references in place of the schemas that have a title, and keeps those. */
  hoist(value: Json): Json
  /** The schemas by title, in alphabetical order. */
  schemas(): JsonObject
}

/** Creates an empty collection. `hoist` throws where two different schemas have the same title. */
export function createComponents(): Components {
  const schemas = new Map<string, Json>()

  function hoist(value: Json): Json {
    if (isList(value)) return value.map(hoist)
    if (typeof value !== 'object' || value === null) return value
    const hoisted = Object.fromEntries(
      Object.entries(value).map(([name, field]) => [name, field === undefined ? undefined : hoist(field)]),
    )
    return typeof hoisted.title === 'string' ? referenceTo(hoisted.title, hoisted) : hoisted
  }

  function referenceTo(title: string, schema: Json): Json {
    const known = schemas.get(title)
    if (known !== undefined && !isDeepStrictEqual(known, schema)) {
      throw new Error(`Two schemas have the title ${title}.`)
    }
    schemas.set(title, schema)
    return { $ref: `#/components/schemas/${title}` }
  }

  return { hoist, schemas: () => Object.fromEntries([...schemas].toSorted(([a], [b]) => (a < b ? -1 : 1))) }
}

/** `Array.isArray` does not narrow a read-only list. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
