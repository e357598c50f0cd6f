import type { World } from './command.ts'

/** Milliseconds: what takes longer has to be explained. */
const interval = 1000

/** The promise; while it lasts, standard error hears each second what is under way. */
export async function withProgress<Value>(
  promise: Promise<Value>,
  world: World,
  tell: () => string,
): Promise<Value> {
  const timer = setInterval(() => world.err(tell()), interval)
  try {
    return await promise
  } finally {
    clearInterval(timer)
  }
}
