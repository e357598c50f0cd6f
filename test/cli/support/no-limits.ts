/** The limits of a new organization, project or key, as `--json` prints them. */
export const noLimits = {
  budget_usd: null,
  budget_period: 'none',
  budget_time_zone: 'UTC',
  requests_per_minute: null,
  tokens_per_minute: null,
  concurrent_requests: null,
  models: null,
  enabled: true,
  budget: null,
}
