import { join } from 'node:path'
import type { SettingsFile } from '../../../src/config/settings.ts'
import type { ResponseObject } from '../../../src/api/responses/render/reply-schema.ts'
import { openBooks } from '../../reliability/money/support/books.ts'
import { pricing } from '../../reliability/money/support/paid.ts'
import { temporaryFolder } from '../../unit/storage/support/folder.ts'
import { type App, startApp } from '../../support/app.ts'
import { begun, ended } from '../../support/background.ts'
import { chunks, streamed } from '../../support/chat-answers.ts'
import { providerKey } from '../../support/scenario.ts'
import { hang, json, type Script, silence } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'

/** How many runs are under way at once. */
export const concurrency = 3

/** What should be known of a run. */
export type ModelRun = {
  readonly id: string
  readonly request: string
  /** As it was seen last. */
  last: ResponseObject
  deleted: boolean
  /** How many deletions are under way. */
  deleting: number
}

/** A gateway that pays, to be started anew on the same database, in front of a provider that answers at random. */
export async function backgroundWorld(random: () => number) {
  const file = join(temporaryFolder(), 'weir.db')
  const gates: (() => void)[] = []
  const upstream = await createUpstream(randomProvider(random, gates))
  const settings: SettingsFile = {
    retries: { attempts: 0 },
    breaker: { failures: 1_000_000, cooldown: '1s' },
    background: { concurrency },
    providers: { acme: { kind: 'openai-compatible', api_key: providerKey, base_url: upstream.url } },
    models: [
      {
        slug: 'acme/river',
        pricing,
        max_output_tokens: 100,
        routes: [{ provider: 'acme', model: 'river-1' }],
      },
    ],
  }
  const start = () => startApp({ settings, database: file })
  let app: App = await start()
  const books = openBooks(file)
  await books.fund('default', '100')
  return {
    app: () => app,
    books,
    upstream,
    /** Lets one of the answers that wait go on. */
    release: () => gates.splice(Math.floor(random() * gates.length), 1)[0]?.(),
    async restart() {
      await app.stop()
      app = await start()
    },
    /** From now on every answer comes, and those that wait go on. */
    calm() {
      upstream.answer(streamed())
      for (const open of gates.splice(0)) open()
    },
    async [Symbol.asyncDispose]() {
      books[Symbol.dispose]()
      await app.stop()
      await upstream[Symbol.asyncDispose]()
    },
  }
}

function randomProvider(random: () => number, gates: (() => void)[]): Script {
  return { play: (socket, closed) => answerOf(random, gates).play(socket, closed) }
}

function answerOf(random: () => number, gates: (() => void)[]): Script {
  const gate = Promise.withResolvers<void>()
  const draw = random()
  if (draw < 0.3) return streamed()
  if (draw < 0.4) return json({ error: { message: 'Down.' } }, { status: 503 })
  if (draw < 0.45) return silence
  gates.push(gate.resolve)
  return draw < 0.9 ? chunks([...begun, gate.promise, ...ended]) : chunks([...begun, gate.promise], hang)
}
