import { describe, expect, test } from 'bun:test'
import type { Fields } from '../../../src/lib/json/json.ts'
import type { CompletionQuery } from '../../../src/storage/ports/completions.ts'
import { createCompletions, deleteCompletionsOf } from '../../../src/storage/scripts/completions.ts'
import { completionSearch, insertCompletion } from '../../../src/storage/sqlite/completion-search.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { createOrganizations } from '../../../src/storage/scripts/organization-changes.ts'
import { completionId } from '../../support/completion-id.ts'
import { plansOf, recordPlans } from '../../support/query-plans.ts'
import { testStorage } from './support/folder.ts'
import { testChange } from '../../support/actor.ts'

async function startStorage() {
  const { database, writer } = testStorage()
  const organizations = createOrganizations(createScriptRunner(database, writer), testChange)
  const [acme, globex] = [await organizations.create('acme'), await organizations.create('globex')]
  const keep = (id: string, organization: string, metadata: Fields = { kept: 'yes' }) =>
    writer.write(() =>
      database.run(
        insertCompletion({
          id,
          organization,
          model: 'acme/river',
          metadata,
          completion: {},
          messages: [],
        }),
      ),
    )
  const count = (table: string) =>
    Number(database.sqlite.query(`SELECT count(*) FROM ${table}`).values()[0]?.[0])
  return { database, writer, organizations, acme: acme.id, globex: globex.id, keep, count }
}

const query: CompletionQuery = { organization: 'org', metadata: [], order: 'asc', limit: 20 }

/** The queries of all kinds of lists. */
const lists = (['asc', 'desc'] as const).flatMap((order): CompletionQuery[] => [
  { ...query, order },
  { ...query, order, after: completionId(0) },
  { ...query, order, model: 'acme/river' },
  { ...query, order, metadata: [['kept', 'yes']] },
])

test('every statement of completions finds its rows by an index', async () => {
  const { database, writer, acme, keep } = await startStorage()
  const id = completionId(Date.now())
  await keep(id, acme)
  const { recorded, plans } = recordPlans(database)
  const completions = createCompletions(createScriptRunner(recorded, writer), completionSearch)
  for (const list of lists) await completions.list({ ...list, organization: acme })
  await completions.find(acme, id, () => {})
  await completions.findMessages(acme, id)
  await completions.updateMetadata(acme, id, { kept: 'no' })
  await completions.remove(acme, id)
  await completions.expire(1)
  recorded.run(deleteCompletionsOf(acme))
  const reading = [...plans()].filter(([text]) => !text.startsWith('insert') && !/"organizations"/.test(text))
  expect(reading.length).toBeGreaterThanOrEqual(10)
  for (const [text, plan] of reading) {
    // The terms are a virtual table: a match or a row id is its index.
    const steps = plan
      .split('; ')
      .filter((step) => !/^SCAN (completion_terms|json_each|ids) VIRTUAL TABLE INDEX \d+:/.test(step))
    const scanning = steps.filter((step) => !/^(SEARCH completions USING |LIST SUBQUERY)/.test(step))
    expect([text, scanning]).toEqual([text, []])
  }
  // An index on the organization would read all of its completions.
  const byIds = reading.filter(([text]) => text.includes('json_each'))
  expect(byIds).not.toBeEmpty()
  for (const [text, plan] of byIds) expect([text, plan]).toEqual([text, expect.stringContaining('(id=?)')])
})

test('a list of completions is in the order of its index, without sorting, and reads no messages', async () => {
  const { database } = await startStorage()
  const plans = [
    ...plansOf(database, ({ run }) => {
      for (const list of lists) run(completionSearch.find(list, 20))
    }),
  ].filter(([text]) => text.includes('order by'))
  expect(plans).toHaveLength(6)
  for (const [text, plan] of plans) {
    expect(plan).not.toContain('TEMP B-TREE')
    expect(text).not.toContain('messages')
  }
  expect(
    plans.filter(([, plan]) => plan.includes('completions_of_organization (organization_id=? AND sequence')),
  ).toHaveLength(2)
  expect(
    plans.filter(([, plan]) =>
      plan.includes('completions_of_model (organization_id=? AND model=? AND sequence'),
    ),
  ).toHaveLength(2)
})

test('a completion has no search terms while it has no metadata', async () => {
  const { database, writer, keep, count, acme } = await startStorage()
  const completions = createCompletions(createScriptRunner(database, writer), completionSearch)
  const id = completionId(moment)
  await keep(id, acme, {})
  expect([count('completions'), count('completion_terms')]).toEqual([1, 0])
  await completions.updateMetadata(acme, id, { kept: 'yes' })
  expect(count('completion_terms')).toBe(1)
  await completions.updateMetadata(acme, id, {})
  expect(count('completion_terms')).toBe(0)
  await completions.remove(acme, id)
  expect(count('completions')).toBe(0)
})

test('the search terms of a completion are deleted with it', async () => {
  const { keep, count, organizations, acme, globex } = await startStorage()
  await keep(completionId(moment), acme)
  await keep(completionId(moment, 1), globex)
  expect([count('completions'), count('completion_terms')]).toEqual([2, 2])
  await organizations.delete('globex')
  expect([count('completions'), count('completion_terms')]).toEqual([1, 1])
})

test('a completion is deleted with the row of its organization', async () => {
  const { database, keep, count, acme, globex } = await startStorage()
  await keep(completionId(moment), acme)
  await keep(completionId(moment, 1), globex)
  database.sqlite.prepare('DELETE FROM organizations WHERE id = ?').run(globex)
  expect([count('completions'), count('completion_terms')]).toEqual([1, 1])
})

/** The ids of the completions of an organization, page by page as a client reads them. */
async function startLists() {
  const { database, writer, acme, globex, keep } = await startStorage()
  const completions = createCompletions(createScriptRunner(database, writer), completionSearch)
  const list = async (more: Partial<CompletionQuery> = {}) => {
    const query = { organization: acme, metadata: [], order: 'asc', limit: 100, ...more } as const
    return (await completions.list(query)).completions.map(({ id }) => id)
  }
  return {
    globex,
    list,
    async keep({ id = completionId(moment), organization = acme } = {}): Promise<string> {
      await keep(id, organization)
      return id
    },
  }
}

const moment = Date.UTC(2026, 5, 1)

describe('the position of a completion', () => {
  test('is the next one where it is taken, and its cursor has that one', async () => {
    const { keep, list } = await startLists()
    const ids = [await keep(), await keep(), await keep()]
    const last = await keep({ id: completionId(moment, 3) })
    expect(await list()).toEqual([...ids, last])
    expect(await list({ after: ids[1] })).toEqual([ids[2]!, last])
    expect(await list({ after: ids[1], order: 'desc' })).toEqual([ids[0]!])
    expect(await list({ metadata: [['kept', 'yes']], after: ids[0] })).toEqual([ids[1]!, ids[2]!, last])
  })

  test('is derived for a foreign id as for one that does not exist', async () => {
    const { keep, list, globex } = await startLists()
    const first = await keep()
    // Of the same moment: their rows stand further on.
    const foreign = [await keep({ organization: globex }), await keep({ organization: globex })]
    const next = await keep({ id: completionId(moment, 1) })
    const unknown = await list({ after: completionId(moment) })
    expect(unknown).toEqual([next])
    for (const id of foreign) expect(await list({ after: id })).toEqual(unknown)
    expect(await list({ after: first })).toEqual([next])
  })
})
