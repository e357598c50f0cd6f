import { Elysia } from 'elysia'
import { fieldsOf, type Json, type JsonObject, listOf } from '../../lib/json/json.ts'
import { describe, type Tag } from './describe.ts'
import { createComponents } from './components.ts'
import { FreeObject } from '../schema.ts'

/** A route as Elysia lists it. */
export type Route = { readonly method: string; readonly path: string; readonly hooks: unknown }

const detail = describe({
  tag: 'System',
  id: 'getOpenApi',
  summary: 'This document',
  reply: FreeObject,
  errors: [],
  open: true,
})

/** `GET /openapi.json`: the document of these routes and of this one. Added after all of them. */
export function openApi(routes: readonly Route[]) {
  let document: string | undefined
  const plugin = new Elysia({ name: 'openapi' }).get(
    '/openapi.json',
    ({ set }) => {
      set.headers['content-type'] = 'application/json'
      return (document ??= JSON.stringify(openApiDocument(described)))
    },
    { detail },
  )
  // A copy: Elysia adds to its list, and what comes later only refuses.
  const described: readonly Route[] = [...routes, ...plugin.routes]
  return plugin
}

/** The interface as an OpenAPI document. */
export function openApiDocument(routes: readonly Route[]): JsonObject {
  const components = createComponents()
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    const operation = operationOf(route)
    const operations = (paths[templateOf(route.path, operation)] ??= {})
    operations[route.method.toLowerCase()] = components.hoist(operation)
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Weir', version: '1.0.0', description: 'Any model provider behind one interface.' },
    security: [{ bearer: [] }],
    tags: tagsOf(paths),
    paths,
    components: {
      schemas: components.schemas(),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'A key like sk-weir-….' } },
    },
  }
}

/** What the route says of itself. */
function operationOf({ hooks }: Route): JsonObject {
  // Through JSON: what makes a schema more than its JSON stays behind.
  return JSON.parse(JSON.stringify(fieldsOf(fieldsOf(hooks).detail)))
}

/** The path with its parameters in braces; a rest of any length goes by the name that the route gives its last one. */
function templateOf(path: string, operation: JsonObject): string {
  const parameters = listOf(operation.parameters).map(fieldsOf)
  const last = parameters.findLast((parameter) => parameter.in === 'path')?.name
  return path.replace(/:(\w+)/g, '{$1}').replace('*', `{${last}}`)
}

const tagMeanings: Record<Tag, string> = {
  Models: 'What can be asked, at which price.',
  Chat: 'Chat completions.',
  Responses: 'Responses.',
  System: 'Probes, metrics, and this document.',
}

function tagsOf(paths: Readonly<Record<string, JsonObject>>): Json[] {
  const operations = Object.values(paths).flatMap((operations) => Object.values(operations))
  const used = new Set(operations.flatMap((operation) => listOf(fieldsOf(operation).tags)))
  const tags = Object.entries(tagMeanings).map(([name, description]) => ({ name, description }))
  return tags.filter(({ name }) => used.has(name))
}
