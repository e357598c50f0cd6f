import type { Actor } from '../../src/storage/ports/audit.ts'

/** Whoever makes the changes that a test needs. */
export const testActor: Actor = {
  type: 'command_line',
  id: null,
  name: 'tester',
  source: 'cli',
  address: 'test-machine',
  forwardedFor: null,
}

/** A change that it makes now. */
export const testChange = () => ({ actor: testActor, now: Date.now() })
