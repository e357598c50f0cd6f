import { createLog } from '../../src/lib/log.ts'
import { createCompletions } from '../../src/storage/scripts/completions.ts'
import { completionSearch } from '../../src/storage/sqlite/completion-search.ts'
import { createScriptRunner } from '../../src/storage/sqlite/script-runner.ts'
import type { NewCompletion } from '../../src/storage/ports/completions.ts'
import { openDatabase } from '../../src/storage/sqlite/connection/database.ts'
import { Writer } from '../../src/storage/sqlite/writer.ts'
import { completionId } from '../support/completion-id.ts'

/** Nine of ten rows are of the first one. */
export const organizations = ['org_large', 'org_small'] as const

/** The rows of one millisecond apart by this many. */
const spacing = 50
const firstMoment = Date.UTC(2026, 0, 1)

/** The completion of this number, from 0, which is always the same one but for the random end of its id. */
export function seeded(number: number): NewCompletion {
  const id = completionId(firstMoment + number * spacing)
  const model = `acme/river-${number % 5}`
  return {
    id,
    organization: number % 10 === 9 ? organizations[1] : organizations[0],
    model,
    metadata: metadataOf(number),
    completion: completionOf(id, model, number),
    messages: [
      { role: 'user', content: `How high is it at gauge ${number}? ${'Say it in metres. '.repeat(10)}` },
    ],
  }
}

/** `parity` and `twin` are always the same, so that no row has `even` of one and `odd` of the other. */
function metadataOf(number: number) {
  const parity = number % 4 < 2 ? 'even' : 'odd'
  return {
    parity,
    twin: parity,
    stage: number % 3 === 0 ? 'test' : 'live',
    gauge: `g${number % 10}`,
    customer: `c${number % 10_007}`,
  }
}

function completionOf(id: string, model: string, number: number) {
  const content = `It is ${number % 9} metres. ${'The water is clear and cold. '.repeat(8)}`
  const message = { role: 'assistant', content }
  return {
    id,
    object: 'chat.completion',
    created: Math.floor((firstMoment + number * spacing) / 1000),
    model,
    choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }],
    usage: { prompt_tokens: 40, completion_tokens: 60, total_tokens: 100 },
    provider: 'acme',
  }
}

/** The storage of completions in this file, on a separate connection. */
export function openCompletions(file: string) {
  const database = openDatabase(file, createLog())
  const writer = new Writer(database)
  const { sqlite } = database
  function close() {
    writer.close()
    database.close()
  }
  return {
    sqlite,
    database,
    completions: createCompletions(createScriptRunner(database, writer), completionSearch),
    close,
  }
}
