import { streamedChat, wholeChat } from './chat.ts'
import { requestBytes } from './connection.ts'
import { percentilesOf, timesOf } from './figures.ts'
import { send } from './load.ts'
import type { BenchFigures, Say } from './measure.ts'
import { CommandError } from '../args.ts'

/** Milliseconds of each part, and requests that are enough: the usual limits are not reached. */
const usualDuration = 1000
const few = 1000

/** The model that is asked: no provider's time and money are in what it takes. */
const model = 'weir/echo'

/** Measures a gateway that serves already. What it does for `GET /livez` stands for a direct call. */
export async function measureOther(
  gateway: { readonly url: string; readonly key: string },
  say: Say,
  duration = usualDuration,
): Promise<BenchFigures> {
  const place = { ...gateway, model }
  const alone = { connections: 1, duration, most: few }
  const probe = new URL('/livez', gateway.url)
  say('One caller …')
  await expectModel(gateway.url, () => send({ ...wholeChat(place), ...alone, most: 1 }))
  const direct = await send({ url: probe, request: requestBytes(probe, {}), ...alone })
  const whole = await send({ ...wholeChat(place), ...alone })
  const streamed = await send({ ...streamedChat(place), ...alone })
  const base = percentilesOf(direct.latencies)
  const reply = timesOf(base, percentilesOf(whole.latencies))
  const first_token = timesOf(base, percentilesOf(streamed.firsts))
  return { gateway: gateway.url, milliseconds: { reply, first_token }, processor_microseconds: null }
}

async function expectModel(url: string, ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask()
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    const advice = `It must serve ${model}, which it does where its settings name the provider echo.`
    throw new CommandError(`${url} cannot be measured. ${cause} ${advice}`)
  }
}
