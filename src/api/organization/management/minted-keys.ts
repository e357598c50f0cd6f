import { findBeyond } from '../../../domain/accounting/model-pattern.ts'
import { renderKey, withBudgets } from '../../../http/render-accounts.ts'
import { badRequest } from '../../../lib/errors/errors.ts'
import { adminObjectNotFound } from '../../../lib/errors/http-errors.ts'
import { formatUsd } from '../../../lib/usd.ts'
import type { KeyRecord, MintInput } from '../../../storage/ports/accounts.ts'
import type { PageQuery } from '../../../storage/ports/listed-pages.ts'
import type { ManagementDependencies } from './own-projects.ts'
import { createOwnChanges, type Manager } from './permission.ts'

/** The keys that a key creates out of its own budget. One that another key created does not exist: 404. */
export type MintedKeyService = ReturnType<typeof createMintedKeyService>

export function createMintedKeyService(parts: ManagementDependencies) {
  const { keys, budgets } = parts.managed
  const change = createOwnChanges(parts)

  async function find({ organization, keyId }: Manager, id: string): Promise<KeyRecord> {
    const key = await keys.find(id)
    if (key?.organizationId === organization.id && key.parent === keyId) return key
    throw adminObjectNotFound(`This API key has created no API key with the ID '${id.slice(0, 100)}'.`)
  }

  return {
    find,
    page: ({ organization, keyId }: Manager, query: PageQuery) =>
      keys.page({ ...query, organizationId: organization.id, parentId: keyId }),
    /** Throws 400 for models that the key itself may not use, and 402 if its budget has too little left. */
    mint: (manager: Manager, input: MintInput) =>
      change(
        manager,
        'key.mint',
        async ({ keys }) => {
          await assertModels(await keys.find(manager.keyId), input)
          return keys.mint(manager.keyId, input)
        },
        ({ record }) => ({ key: record.id, name: record.name, budget: formatUsd(input.budget) }),
      ),
    /** What is left of its budget is returned. */
    revoke: (manager: Manager, id: string) =>
      change(
        manager,
        'key.revoke',
        async ({ keys }) => {
          await find(manager, id)
          const revoked = await keys.revoke(id)
          await keys.returnAllocations()
          return revoked
        },
        ({ name }) => ({ key: id, name }),
      ),
    async render(records: readonly KeyRecord[]) {
      const states = await withBudgets(budgets, records, Date.now())
      return states.map(({ account, state }) => ({ object: 'api_key', ...renderKey(account, state) }))
    },
  }
}

async function assertModels(parent: KeyRecord | undefined, { models }: MintInput): Promise<void> {
  const index = findBeyond(models ?? [], parent?.limits.models ?? null)
  if (index < 0) return
  const message = `Invalid 'models[${index}]': the model is not within those of this API key.`
  throw badRequest(message, 'invalid_value', `models[${index}]`)
}
