import { expect, test } from 'bun:test'
import { finished, responseStorage, responseStore, unfinished } from './support/response-fixture.ts'
import { testStores } from './support/stores.ts'

testStores((open) => {
  test('a response is found as it was stored', async () => {
    const { responses, acme, insert } = await responseStore(open)
    const head = { id: 'é', list: [1, null, { deep: '\u0000"\ud800' }], metadata: {} }
    const input = [
      { type: 'message', content: [{ type: 'input_text', text: '\ud83d\ude00 \n' }] },
      { type: 'x' },
    ]
    const response = { ...finished(acme, undefined, 'incomplete'), head, input, log: '["é\\u0000"]\n' }
    await insert(response)
    const found = await responses.find(acme, response.id)
    expect(found).toEqual({ id: response.id, status: 'incomplete', head, log: response.log, pieces: 0 })
    expect(await responses.findInput(acme, response.id)).toEqual(input)
  })

  test('a run is stored piece by piece, and then complete', async () => {
    const { responses, start, append, acme, queued, pieces, finish } = await responseStore(open)
    const id = await queued()
    expect(await responses.findRun(acme, id)).toEqual({ model: 'weir/echo' })
    expect(await responses.find(acme, id)).toMatchObject({ status: 'queued', log: '["created"]\n' })
    expect(await start(acme, id)).toBe(true)
    // Twelve, because ten must not come before two.
    for (let position = 0; position < 12; position++)
      await append(acme, id, 11 - position, `[${11 - position}]\n`)
    const lines = Array.from({ length: 12 }, (_, position) => `[${position}]\n`)
    const log = ['["created"]\n', ...lines].join('')
    expect(await responses.find(acme, id)).toMatchObject({ status: 'in_progress', log })
    expect(await pieces()).toHaveLength(12)
    expect(await finish(acme, id, { status: 'failed', log: '["all"]\n' })).toBe(true)
    expect(await responses.find(acme, id)).toMatchObject({ status: 'failed', log: '["all"]\n' })
    expect(await responses.findRun(acme, id)).toBeUndefined()
    expect(await pieces()).toEqual([])
  })

  test('a response starts, which may be repeated, and ends once', async () => {
    const { responses, start, acme, queued, answered: replied, finish } = await responseStore(open)
    const id = await queued()
    const end = (status: 'completed' | 'incomplete') => finish(acme, id, { status, log: `["${status}"]\n` })
    expect([await start(acme, id), await start(acme, id)]).toEqual([true, true])
    expect([await end('completed'), await end('incomplete')]).toEqual([true, false])
    expect(await start(acme, id)).toBe(false)
    expect(await responses.find(acme, id)).toMatchObject({ status: 'completed', log: '["completed"]\n' })
    expect(await start(acme, await replied())).toBe(false)
    expect(await start(acme, 'resp_unknown')).toBe(false)
  })

  test('a run that never started can end', async () => {
    const { responses, acme, queued, finish } = await responseStore(open)
    const id = await queued()
    expect(await finish(acme, id, { status: 'incomplete', log: '' })).toBe(true)
    expect(await responses.find(acme, id)).toMatchObject({ status: 'incomplete', log: '' })
  })

  test('nothing is appended to the log of a response that is not in progress', async () => {
    const { append, acme, queued, answered: replied, pieces } = await responseStore(open)
    for (const id of [await queued(), await replied(), 'resp_unknown']) await append(acme, id, 0, '[]\n')
    expect(await pieces()).toEqual([])
  })

  test('a log piece that is repeated is stored once', async () => {
    const { responses, start, append, acme, queued } = await responseStore(open)
    const id = await queued()
    await start(acme, id)
    await append(acme, id, 0, '[1]\n')
    await append(acme, id, 0, '[1]\n')
    expect((await responses.find(acme, id))?.log).toBe('["created"]\n[1]\n')
  })

  test('all responses of a deleted organization are gone, and no more are stored for it', async () => {
    const {
      start,
      append,
      organizations,
      acme,
      other,
      insert,
      answered: replied,
      queued,
      rows,
      pieces,
      finish,
    } = await responseStore(open)
    const running = await queued(await replied())
    const theirs = finished(other)
    await insert(theirs)
    await start(acme, running)
    await append(acme, running, 0, '[]\n')
    await organizations.delete('acme')
    expect([await rows(), await pieces()]).toEqual([[theirs.id], []])
    await append(acme, running, 1, '[]\n')
    expect(await finish(acme, running, { status: 'completed', log: '' })).toBe(false)
    await insert(finished(acme), unfinished(acme, 'queued'))
    expect([await rows(), await pieces()]).toEqual([[theirs.id], []])
  })
})

test('an unfinished response must have what its run needs, and a finished one must not', async () => {
  const { database, acme, answered: replied } = await responseStorage()
  const id = await replied()
  const set = (status: string, run: string | null) => () =>
    database.sqlite
      .prepare('UPDATE responses SET status = ?, run = ? WHERE id = ? AND organization_id = ?')
      .run(status, run, id, acme)
  expect(set('queued', null)).toThrow('responses_run')
  expect(set('completed', '{}')).toThrow('responses_run')
  expect(set('queued', '{}')).not.toThrow()
})

test('a failed transaction stores nothing of a response', async () => {
  const { writes, acme, writer, rows } = await responseStorage()
  const work = writer.write(() => {
    writes.insert(finished(acme))
    throw new Error('settled already')
  })
  expect(work).rejects.toThrow('settled already')
  await work.catch(() => {})
  expect(rows()).toEqual([])
})

test('a broken database is a 503 for every operation on responses', async () => {
  const { database, responses, start, append, acme, answered: replied } = await responseStorage()
  const id = await replied()
  database.sqlite.run('PRAGMA query_only = ON')
  const writes = [responses.remove(acme, id), start(acme, id), append(acme, id, 0, ''), responses.expire(0)]
  for (const write of await Promise.allSettled(writes))
    expect(write).toMatchObject({ status: 'rejected', reason: { status: 503 } })
})
