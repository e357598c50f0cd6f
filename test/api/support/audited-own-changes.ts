import { expect } from 'bun:test'
import type { AuditedChange } from './audited-changes.ts'

const repeats = 'changes nothing'
const own = '/v1/organization/projects/{project_id}'

/** Every change that a key makes in its organization. */
export const ownChanges: readonly AuditedChange[] = [
  {
    operation: 'POST /v1/organization/projects',
    body: { name: 'ranking' },
    event: 'project.created',
    changed: { name: 'ranking' },
    repeats: 'is refused',
    creates: 'project_id',
  },
  {
    operation: `POST ${own}`,
    body: { name: 'ranking 2' },
    event: 'project.updated',
    changed: { name: 'ranking 2' },
    repeats,
  },
  {
    operation: `POST ${own}/rate_limits/{rate_limit_id}`,
    body: { max_requests_per_1_minute: 7 },
    event: 'project.updated',
    changed: { requests_per_minute: 7 },
    repeats,
  },
  {
    operation: `POST ${own}/model_permissions`,
    body: { mode: 'allow_list', model_ids: ['acme/*'] },
    event: 'project.updated',
    changed: { models: ['acme/*'] },
    repeats,
  },
  {
    operation: `DELETE ${own}/model_permissions`,
    event: 'project.updated',
    changed: { models: null },
    repeats,
  },
  {
    operation: `POST ${own}/spend_limit`,
    body: { currency: 'USD', interval: 'month', threshold_amount: 500 },
    event: 'project.updated',
    changed: { budget_usd: '5.00', budget_period: 'month' },
    repeats,
  },
  {
    operation: `DELETE ${own}/spend_limit`,
    event: 'project.updated',
    changed: { budget_usd: null },
    repeats,
  },
  {
    operation: `POST ${own}/service_accounts`,
    body: { name: 'ci' },
    event: 'api_key.created',
    changed: { name: 'ci' },
    creates: 'api_key_id',
  },
  {
    operation: `POST ${own}/api_keys/{api_key_id}`,
    body: { budget_usd: '1' },
    event: 'api_key.updated',
    changed: { budget_usd: '1.00' },
    repeats,
  },
  {
    operation: `DELETE ${own}/api_keys/{api_key_id}`,
    event: 'api_key.deleted',
    changed: { revoked_at: expect.any(String) },
    repeats: 'is refused',
  },
  {
    operation: `POST ${own}/service_accounts`,
    body: { name: 'ci' },
    event: 'api_key.created',
    changed: { name: 'ci' },
    creates: 'service_account_id',
  },
  {
    operation: `DELETE ${own}/service_accounts/{service_account_id}`,
    event: 'api_key.deleted',
    changed: { revoked_at: expect.any(String) },
    repeats: 'is refused',
  },
  {
    operation: `POST ${own}/archive`,
    event: 'project.archived',
    changed: { deleted_at: expect.any(String) },
    repeats,
  },
  {
    operation: 'POST /v1/organization/admin_api_keys',
    body: { name: 'terraform' },
    event: 'api_key.created',
    changed: { name: 'terraform', models: [] },
    creates: 'key_id',
  },
  {
    operation: 'DELETE /v1/organization/admin_api_keys/{key_id}',
    event: 'api_key.deleted',
    changed: { revoked_at: expect.any(String) },
    repeats: 'is refused',
  },
  {
    operation: 'POST /v1/organization/keys',
    body: { name: 'run', budget_usd: '0.01', expires_in: '1h' },
    event: 'api_key.created',
    changed: { name: 'run', budget_usd: '0.01' },
    creates: 'key_id',
  },
  {
    operation: 'DELETE /v1/organization/keys/{key_id}',
    event: 'api_key.deleted',
    changed: { revoked_at: expect.any(String) },
    repeats,
  },
]
