import type { App } from '../../support/app.ts'
import type { Endpoint, Headers } from './isolated-endpoints.ts'

const projects = '/v1/organization/projects'
const project = `${projects}/{project_id}`
const spendLimit = { currency: 'USD', interval: 'month', threshold_amount: 0 }

/** The endpoints with which a key manages its organization. The last parameter of a path is the id, another is an own project. */
const managed = [
  ['GET', projects, '?after='],
  ['GET', project],
  ['POST', project, { name: 'taken' }],
  ['POST', `${project}/archive`],
  ['GET', `${project}/api_keys`],
  ['GET', `${project}/api_keys`, '?after='],
  ['GET', `${project}/api_keys/{api_key_id}`],
  ['POST', `${project}/api_keys/{api_key_id}`, { budget_usd: '1' }],
  ['DELETE', `${project}/api_keys/{api_key_id}`],
  ['GET', `${project}/service_accounts`],
  ['POST', `${project}/service_accounts`, { name: 'taken' }],
  ['GET', `${project}/service_accounts/{service_account_id}`],
  ['DELETE', `${project}/service_accounts/{service_account_id}`],
  ['GET', `${project}/rate_limits`],
  ['GET', `${project}/model_permissions`],
  ['POST', `${project}/model_permissions`, { mode: 'allow_list', model_ids: [] }],
  ['DELETE', `${project}/model_permissions`],
  ['GET', `${project}/spend_limit`],
  ['POST', `${project}/spend_limit`, spendLimit],
  ['DELETE', `${project}/spend_limit`],
  ['GET', '/v1/organization/admin_api_keys', '?after='],
  ['GET', '/v1/organization/admin_api_keys/{key_id}'],
  ['DELETE', '/v1/organization/admin_api_keys/{key_id}'],
  ['GET', '/v1/organization/keys', '?after='],
  ['GET', '/v1/organization/audit_logs', '?after='],
  ['GET', '/v1/organization/keys/{key_id}'],
  ['DELETE', '/v1/organization/keys/{key_id}'],
] as const

/** Every endpoint with which a key manages its organization and that takes an id or a cursor. */
export const managementEndpoints: readonly Endpoint[] = [
  ...managed.map(([method, path, last]): Endpoint => {
    const cursor = typeof last === 'string' ? last : undefined
    const body = typeof last === 'object' ? last : undefined
    return {
      path,
      owns: true,
      changesNothing: method === 'GET',
      async ask({ app }, id, headers) {
        const own = await ownProject(app, headers)
        const filled = cursor === undefined ? fillLast(path, id) : path + cursor + id
        return app.request(filled.replace('{project_id}', own), { method, headers, ...(body && { body }) })
      },
    }
  }),
  {
    path: `${project}/rate_limits/{rate_limit_id}`,
    owns: true,
    ask: ({ app }, id, headers) =>
      app.request(`${projects}/${id}/rate_limits/rl_all_models`, {
        method: 'POST',
        headers,
        body: { max_requests_per_1_minute: 1 },
      }),
  },
]

/** Puts an id in the place of the last parameter. */
function fillLast(path: string, id: string): string {
  return path.replace(/\{\w+\}(?!.*\{)/, id)
}

/** The first project of the organization of a key, or nothing where the key is not accepted any more. */
async function ownProject(app: App, headers: Headers): Promise<string> {
  const { data = [] } = (await (
    await app.request(`${projects}?include_archived=true`, { headers })
  ).json()) as {
    readonly data?: readonly { readonly id: string }[]
  }
  return data[0]?.id ?? 'none'
}
