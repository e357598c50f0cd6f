import { expect, test } from 'bun:test'
import { findState } from '../../../../src/api/responses/find-response.ts'
import { createFollowedResponses } from '../../../../src/api/responses/live/followed-responses.ts'
import { createLiveResponses, LiveResponse } from '../../../../src/api/responses/live/live-response.ts'
import { headOf } from '../../../../src/api/responses/request/head.ts'
import { timeSortedId } from '../../../../src/lib/id.ts'
import { silentLog } from '../../../../src/lib/log.ts'
import { claimsStore } from '../../storage/support/claims-fixture.ts'
import { testSharedStores } from '../../storage/support/stores.ts'

testSharedStores((open) => {
  test.each([
    [true, false],
    [false, true],
  ])(
    'a response without a row whose end is being stored (background: %p) is found: %p',
    async (background, found) => {
      const { acme, runs, responses } = await claimsStore(open)
      const request = { model: 'acme/river', input: 'river', background }
      const id = timeSortedId('resp_')
      const response = new LiveResponse(
        acme,
        headOf(request, { id, createdAt: 1, slug: 'acme/river', warnings: [] }),
      )
      const live = createLiveResponses()
      live.add(response)
      response.apply({ type: 'created' })
      response.toResponseEnd({ type: 'cancelled', usage: null })
      const followed = createFollowedResponses({
        peers: { count: () => 2 },
        runs,
        responses,
        live,
        log: silentLog,
      })
      const finding = findState(acme, id, { live, followed, responses })
      if (found) expect(await finding).toMatchObject({ head: { id } })
      else await expect(finding).rejects.toMatchObject({ status: 404 })
    },
  )
})
