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
}

/** Every endpoint that takes an id or a cursor. */
export const endpoints: readonly Endpoint[] = [
  {
    path: '/v1/models/{id}',
    owns: false,
    ask: (paid, id, headers) => get(paid, `/v1/models/${id}`, headers),
  },
  {
    path: '/v1/models',
    owns: false,
    ask: (paid, id, headers) => {
      const all = { ...headers, 'anthropic-version': '2023-06-01' }
      return paid.app.request(`/v1/models?after_id=${id}`, { headers: all })
    },
  },
  { path: '/v1/chat/completions', owns: true, ask: afterCall },
  {
    path: '/v1/chat/completions',
    owns: true,
    ask: (paid, id, headers) => get(paid, `${storedPath}?after=${id}`, headers),
  },
  {
    path: '/v1/chat/completions',
    owns: true,
    ask: (paid, id, headers) => get(paid, `${storedPath}?order=desc&metadata[kept]=yes&after=${id}`, headers),
  },
  {
    path: '/v1/chat/completions/{completion_id}',
    owns: true,
    ask: (paid, id, headers) => get(paid, `${storedPath}/${id}`, headers),
  },
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
  {
    path: '/v1/chat/completions/{completion_id}/messages',
    owns: true,
    ask: (paid, id, headers) => get(paid, `${storedPath}/${id}/messages?after=${id}-0`, headers),
  },
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
  {
    path: '/v1/responses',
    owns: true,
    ask: (paid, id, headers) => get(paid, `${responsesPath}?order=asc&after=${id}`, headers),
  },
  {
    path: '/v1/responses',
    owns: true,
    ask: (paid, id, headers) =>
      get(paid, `${responsesPath}?model=acme/river&status=completed&after=${id}`, headers),
  },
  {
    path: '/v1/responses/{id}',
    owns: true,
    ask: (paid, id, headers) => get(paid, `${responsesPath}/${id}`, headers),
  },
  {
    path: '/v1/responses/{id}',
    owns: true,
    ask: (paid, id, headers) => get(paid, `${responsesPath}/${id}?stream=true`, headers),
  },
  {
    path: '/v1/responses/{id}',
    owns: true,
    ask: ({ app }, id, headers) => app.request(`${responsesPath}/${id}`, { headers, method: 'DELETE' }),
  },
  {
    path: '/v1/organization/usage/completions',
    owns: true,
    ask: (paid, id, headers) => get(paid, `/v1/organization/usage/completions?api_key_ids=${id}`, headers),
  },
  {
    path: '/v1/organization/costs',
    owns: true,
    ask: (paid, id, headers) => get(paid, `/v1/organization/costs?organization_ids=${id}`, headers),
  },
  {
    path: '/v1/responses/{id}/cancel',
    owns: true,
    ask: ({ app }, id, headers) => app.request(`${responsesPath}/${id}/cancel`, { headers, method: 'POST' }),
  },
  {
    path: '/v1/responses/{id}/input_items',
    owns: true,
    ask: (paid, id, headers) => get(paid, `${responsesPath}/${id}/input_items?after=${id}`, headers),
  },
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
        path,
        owns: false,
        ask: ({ app }, id, headers) => app.request(path.replace(/\{\w+\}/, id), { headers }),
      }),
    ),
    ...paths.map(([method, path, separator]): Endpoint => {
      const base = path.replace(/\/\{\w+\}/, '')
      return {
        path,
        owns: false,
        ask: ({ app }, id, headers) => app.request(`${base}${separator}${id}`, { method, headers }),
      }
    }),
    ...nested.map(([path, name]): Endpoint => {
      return {
        path,
        owns: false,
        ask: ({ app }, id, headers) =>
          app.request(path.replace(name, id), { method: 'POST', headers, body: {} }),
      }
    }),
  ]
}
