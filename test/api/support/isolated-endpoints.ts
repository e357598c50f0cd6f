import type { BillingScenario } from '../../support/billing-scenario.ts'
import { postResponse, responsesPath } from '../../support/responses.ts'
import { chatRequest } from '../../support/scenario.ts'
import { managementEndpoints } from './management-endpoints.ts'
import { storedPath } from '../../support/stored-completions.ts'

/** The header with a key. */
export type Headers = { readonly authorization: string }

/** An endpoint, and a request to it with an id. */
export type Endpoint = {
  /** As the OpenAPI document has it. */
  readonly path: string
  ask(paid: BillingScenario, id: string, headers: Headers): Promise<Response>
  /** Whether an organization has ids of its own here, for which it gets something else than others do. */
  readonly owns: boolean
  /** Whether the request changes nothing: it reads, or no key of an organization may send it. */
  readonly changesNothing?: boolean
}

/** Every endpoint that takes an id or a cursor. */
export const endpoints: readonly Endpoint[] = [
  { ...read('/v1/models/{id}', (id) => `/v1/models/${id}`), owns: false },
  {
    path: '/v1/models',
    owns: false,
    changesNothing: true,
    ask: (paid, id, headers) => {
      const all = { ...headers, 'anthropic-version': '2023-06-01' }
      return paid.app.request(`/v1/models?after_id=${id}`, { headers: all })
    },
  },
  { path: '/v1/chat/completions', owns: true, ask: afterCall },
  read('/v1/chat/completions', (id) => `${storedPath}?after=${id}`),
  read('/v1/chat/completions', (id) => `${storedPath}?order=desc&metadata[kept]=yes&after=${id}`),
  read('/v1/chat/completions/{completion_id}', (id) => `${storedPath}/${id}`),
  {
    path: '/v1/chat/completions/{completion_id}',
    owns: true,
    ask: ({ app }, id, headers) => app.request(`${storedPath}/${id}`, { headers, body: { metadata: {} } }),
  },
  {
    path: '/v1/chat/completions/{completion_id}',
    owns: true,
    ask: ({ app }, id, headers) => app.request(`${storedPath}/${id}`, { headers, method: 'DELETE' }),
  },
  read('/v1/chat/completions/{completion_id}/messages', (id) => `${storedPath}/${id}/messages?after=${id}-0`),
  {
    path: '/v1/responses',
    owns: true,
    ask: ({ app }, id, headers) => postResponse(app, { previous_response_id: id }, { headers }),
  },
  {
    path: '/v1/responses',
    owns: true,
    ask: ({ app }, id, headers) =>
      postResponse(app, { input: [{ type: 'item_reference', id }] }, { headers }),
  },
  read('/v1/responses', (id) => `${responsesPath}?order=asc&after=${id}`),
  read('/v1/responses', (id) => `${responsesPath}?model=acme/river&status=completed&after=${id}`),
  read('/v1/responses/{id}', (id) => `${responsesPath}/${id}`),
  read('/v1/responses/{id}', (id) => `${responsesPath}/${id}?stream=true`),
  {
    path: '/v1/responses/{id}',
    owns: true,
    ask: ({ app }, id, headers) => app.request(`${responsesPath}/${id}`, { headers, method: 'DELETE' }),
  },
  read('/v1/organization/usage/completions', (id) => `/v1/organization/usage/completions?api_key_ids=${id}`),
  read('/v1/organization/costs', (id) => `/v1/organization/costs?organization_ids=${id}`),
  {
    path: '/v1/responses/{id}/cancel',
    owns: true,
    ask: ({ app }, id, headers) => app.request(`${responsesPath}/${id}/cancel`, { headers, method: 'POST' }),
  },
  read('/v1/responses/{id}/input_items', (id) => `${responsesPath}/${id}/input_items?after=${id}`),
  ...adminEndpoints(),
  ...managementEndpoints,
]

/** The tool call that `acme` has had. */
export const call = { name: 'height', arguments: ['{}'] }

/** The next turn of a tool loop, which brings back what is kept of the call with this id. */
function afterCall({ app }: BillingScenario, id: string, headers: Headers): Promise<Response> {
  const past = { id, type: 'function', function: { name: call.name, arguments: '{}' } }
  const messages = [
    ...chatRequest.messages,
    { role: 'assistant', content: null, tool_calls: [past] },
    { role: 'tool', tool_call_id: id, content: '4' },
  ]
  return app.chat({ ...chatRequest, messages }, { headers })
}

/** An endpoint that is read with the path of an id. */
function read(path: string, pathOf: (id: string) => string): Endpoint {
  return {
    path,
    owns: true,
    changesNothing: true,
    ask: (paid, id, headers) => get(paid, pathOf(id), headers),
  }
}

/** Sends a GET request. */
export function get({ app }: BillingScenario, path: string, headers: Headers): Promise<Response> {
  return app.request(path, { headers })
}

/** The endpoints of the operator, which are the same for every key of an organization. */
function adminEndpoints(): readonly Endpoint[] {
  const paths = [
    ['GET', '/admin/organizations', '?after='],
    ['GET', '/admin/organizations/{organization}', '/'],
    ['POST', '/admin/organizations/{organization}', '/'],
    ['PATCH', '/admin/organizations/{organization}', '/'],
    ['DELETE', '/admin/organizations/{organization}', '/'],
    ['GET', '/admin/audit_logs', '?after='],
    ['GET', '/admin/audit_logs/{entry}', '/'],
    ['GET', '/admin/keys', '?after='],
    ['GET', '/admin/keys/{key}', '/'],
    ['PATCH', '/admin/keys/{key}', '/'],
    ['GET', '/admin/projects', '?organization='],
    ['GET', '/admin/projects/{project}', '/'],
    ['PATCH', '/admin/projects/{project}', '/'],
    ['DELETE', '/admin/projects/{project}', '/'],
    ['GET', '/admin/requests', '?after='],
    ['GET', '/admin/requests/{request}', '/'],
    ['GET', '/admin/webhook_deliveries', '?after='],
  ] as const
  const nested = [
    ['/admin/organizations/{organization}/credit', '{organization}'],
    ['/admin/organizations/{organization}/release_held', '{organization}'],
    ['/admin/projects/{project}/release_held', '{project}'],
    ['/admin/keys/{key}/release_held', '{key}'],
    ['/admin/keys/{key}/revoke', '{key}'],
    ['/admin/keys/{key}/rotate', '{key}'],
    ['/admin/providers/{provider}/test', '{provider}'],
    ['/admin/webhooks/{endpoint}/test', '{endpoint}'],
    ['/admin/webhooks/{endpoint}/retry', '{endpoint}'],
    ['/admin/webhook_deliveries/{delivery}/retry', '{delivery}'],
  ] as const
  return [
    ...['/admin/organizations/{organization}/ledger', '/admin/requests/{request}/content'].map(
      (path): Endpoint => ({
        ...read(path, (id) => path.replace(/\{\w+\}/, id)),
        owns: false,
      }),
    ),
    ...paths.map(([method, path, separator]): Endpoint => {
      const base = path.replace(/\/\{\w+\}/, '')
      return {
        path,
        owns: false,
        changesNothing: true,
        ask: ({ app }, id, headers) => app.request(`${base}${separator}${id}`, { method, headers }),
      }
    }),
    ...nested.map(([path, name]): Endpoint => {
      return {
        path,
        owns: false,
        changesNothing: true,
        ask: ({ app }, id, headers) =>
          app.request(path.replace(name, id), { method: 'POST', headers, body: {} }),
      }
    }),
  ]
}
