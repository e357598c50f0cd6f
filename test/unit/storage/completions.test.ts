import { describe, expect, test } from 'bun:test'
import type { CompletionQuery, NewCompletion } from '../../../src/storage/ports/completions.ts'
import { prepareCompletionInsert } from '../../../src/storage/sqlite/completions/completion-insert.ts'
import { prepareCompletionList } from '../../../src/storage/sqlite/completions/completion-list.ts'
import { createCompletions } from '../../../src/storage/sqlite/completions/completions.ts'
import { createOrganizations } from '../../../src/storage/sqlite/organizations/organizations.ts'
import { sequenceAt, sequenceOf } from '../../../src/storage/ports/completion-sequence.ts'
import { completionId } from '../../support/completion-id.ts'
import { plansOf } from '../../support/query-plans.ts'
import { testStorage } from './support/folder.ts'

const moment = Date.UTC(2026, 5, 1)

/** A database with the organizations `acme` and `globex`. */
async function startStorage() {
  const { database, writer } = testStorage()
  const completions = createCompletions(database, writer)
  const insertNow = prepareCompletionInsert(database)
  const organizations = createOrganizations(database, writer)
  const [acme, globex] = [await organizations.create('acme'), await organizations.create('globex')]
  const insert = (completion: NewCompletion) => writer.write(() => insertNow(completion))

  /** Keeps one for `acme`, with what differs. */
  async function keep(more: Partial<NewCompletion> = {}): Promise<string> {
    const completion = {
      id: completionId(moment),
      organization: acme.id,
      model: 'acme/river',
      metadata: { kept: 'yes' },
      completion: { object: 'chat.completion' },
      messages: [{ role: 'user', content: 'Hello' }],
      ...more,
    }
    await insert(completion)
    return completion.id
  }

  async function list(more: Partial<CompletionQuery> = {}): Promise<string[]> {
    const query: CompletionQuery = { organization: acme.id, metadata: [], order: 'asc', limit: 100, ...more }
    return (await completions.list(query)).completions.map(({ id }) => id)
  }

  const count = (table: string) =>
    Number(database.sqlite.query(`SELECT count(*) FROM ${table}`).values()[0]?.[0])
  return { database, writer, completions, organizations, acme: acme.id, globex: globex.id, keep, list, count }
}

test('every statement of completions finds its rows by an index', async () => {
  const { database, writer } = await startStorage()
  const plans = plansOf(database, (recorded) => [
    createCompletions(recorded, writer),
    prepareCompletionInsert(recorded),
  ])
  const reading = [...plans].filter(([text]) => !text.startsWith('INSERT') && !/ organizations /.test(text))
  expect(reading).toHaveLength(18)
  for (const [text, plan] of reading) {
    // The terms are a virtual table: a match or a row id is its index.
    const steps = plan
      .split('; ')
      .filter((step) => !/^SCAN completion_terms VIRTUAL TABLE INDEX \d+:(M1|=)/.test(step))
    const scanning = steps.filter((step) => !step.startsWith('SEARCH completions USING '))
    expect([text, scanning]).toEqual([text, []])
  }
})

test('a list of completions is in the order of its index, without sorting, and reads no messages', async () => {
  const { database } = await startStorage()
  const lists = [...plansOf(database, prepareCompletionList)]
  expect(lists).toHaveLength(8)
  for (const [text, plan] of lists) {
    expect(plan).not.toContain('TEMP B-TREE')
    expect(text).not.toContain('messages')
  }
  expect(
    lists.filter(([, plan]) => plan.includes('completions_of_organization (organization_id=? AND sequence')),
  ).toHaveLength(2)
  expect(
    lists.filter(([, plan]) =>
      plan.includes('completions_of_model (organization_id=? AND model=? AND sequence'),
    ),
  ).toHaveLength(2)
})

describe('the position of a completion', () => {
  test('follows from its id, as long as numbers are exact', () => {
    expect(sequenceOf(completionId(moment, 5))).toBe(sequenceAt(moment) + 5)
    expect(sequenceOf(completionId(moment, 4095))).toBe(sequenceAt(moment + 1) - 1)
    expect(sequenceOf(completionId(Date.UTC(2089, 0, 1)))).toBeLessThan(Number.MAX_SAFE_INTEGER)
    for (const id of [
      '',
      'chatcmpl-',
      'chatcmpl-x',
      completionId(moment).slice(9),
      `${completionId(moment)}0`,
    ])
      expect(sequenceOf(id)).toBeUndefined()
  })

  test('is the next one where it is taken, and its cursor has that one', async () => {
    const { keep, list } = await startStorage()
    const ids = [await keep(), await keep(), await keep()]
    const last = await keep({ id: completionId(moment, 3) })
    expect(await list()).toEqual([...ids, last])
    expect(await list({ after: ids[1] })).toEqual([ids[2]!, last])
    expect(await list({ after: ids[1], order: 'desc' })).toEqual([ids[0]!])
    expect(await list({ metadata: [['kept', 'yes']], after: ids[0] })).toEqual([ids[1]!, ids[2]!, last])
  })

  test('is derived for a foreign id as for one that does not exist', async () => {
    const { keep, list, globex } = await startStorage()
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

describe('a completion of another organization', () => {
  test('is neither found nor changed nor deleted', async () => {
    const { keep, list, completions, acme, globex } = await startStorage()
    const id = await keep()
    expect(await completions.find(globex, id)).toBeUndefined()
    expect(await completions.findMessages(globex, id)).toBeUndefined()
    expect(await completions.updateMetadata(globex, id, { kept: 'no' })).toBeUndefined()
    expect(await completions.remove(globex, id)).toBe(false)
    expect(await list({ organization: globex })).toEqual([])
    expect(await list({ organization: globex, model: 'acme/river' })).toEqual([])
    expect(await list({ organization: globex, metadata: [['kept', 'yes']] })).toEqual([])
    expect(await completions.find(acme, id)).toMatchObject({ id, metadata: '{"kept":"yes"}' })
  })

  test('is deleted with its organization, and so are its terms', async () => {
    const { keep, list, count, organizations, globex } = await startStorage()
    const id = await keep()
    for (let number = 1; number < 150; number++)
      await keep({ id: completionId(moment, number), organization: globex })
    expect([count('completions'), count('completion_terms')]).toEqual([150, 150])
    await organizations.delete('globex')
    expect([count('completions'), count('completion_terms')]).toEqual([1, 1])
    await keep({ id: completionId(moment, 151), organization: globex })
    expect([count('completions'), count('completion_terms')]).toEqual([1, 1])
    expect(await list()).toEqual([id])
  })
})

test('a completion that is stored while its organization is deleted is deleted with the organization’s row', async () => {
  const { database, keep, list, count, globex } = await startStorage()
  const id = await keep()
  await keep({ organization: globex })
  database.sqlite.prepare('DELETE FROM organizations WHERE id = ?').run(globex)
  expect([count('completions'), count('completion_terms'), await list()]).toEqual([1, 1, [id]])
})

describe('expired completions', () => {
  test('are deleted in steps of a bounded number of rows, the oldest first', async () => {
    const { keep, list, count, completions } = await startStorage()
    for (let number = 0; number < 250; number++) await keep({ id: completionId(moment - 1, number) })
    const young = await keep()
    expect([await completions.expire(moment - 1), count('completions')]).toEqual([0, 251])
    expect([await completions.expire(moment), count('completions')]).toEqual([100, 151])
    expect(await list({ limit: 1 })).toHaveLength(1)
    expect([await completions.expire(moment), await completions.expire(moment)]).toEqual([100, 50])
    expect([await completions.expire(moment), count('completion_terms')]).toEqual([0, 1])
    expect(await list({ metadata: [['kept', 'yes']] })).toEqual([young])
  })

  test('are deleted in steps of bounded size, one at least', async () => {
    const { keep, completions } = await startStorage()
    const messages = [{ role: 'user', content: 'x'.repeat(1_500_000) }]
    for (let number = 0; number < 5; number++) await keep({ id: completionId(moment, number), messages })
    await keep({ id: completionId(moment, 5), messages: Array.from({ length: 4 }, () => messages[0]!) })
    const steps = []
    for (let gone = 1; gone > 0;) steps.push((gone = await completions.expire(moment + 1)))
    expect(steps).toEqual([2, 2, 1, 1, 0])
  })
})
