import type { Page } from 'playwright-core'

/** Resolves when the live view receives what happens at the gateway from now on. */
export function connected(page: Page): Promise<void> {
  return page.getByRole('status').getByText('live', { exact: true }).waitFor()
}
