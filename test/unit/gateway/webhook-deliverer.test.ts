import { expect, onTestFinished, test } from 'bun:test'
import { silentLog } from '../../../src/lib/log.ts'
import { startDeliverer } from '../../../src/gateway/webhooks/deliverer.ts'
import { startReceiver } from '../../support/webhook-receiver.ts'
import { testStores } from '../storage/support/stores.ts'

testStores((open) => {
  test('an endpoint whose settings are reloaded during a round is sent to in the next one', async () => {
    const { webhooks } = await open()
    await using receiver = startReceiver()
    await webhooks.providerDown('acme', '{"provider":"acme"}')
    let rounds = 0
    let current = [receiver.settings]
    const deliverer = startDeliverer({
      webhooks,
      endpoints: () => current,
      async check() {
        // The round has read the earlier settings.
        if (rounds++ === 0) current = [{ ...receiver.settings }]
      },
      intervalMs: 5,
      log: silentLog,
    })
    onTestFinished(() => deliverer.stop())
    const [received] = await receiver.waitFor(1)
    expect(received?.event.type).toBe('provider.down')
    expect(rounds).toBeGreaterThan(1)
  })
})
