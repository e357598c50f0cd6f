/** The variables that are meant for the tests. */
const kept = ['WEIR_TEST_SEED', 'WEIR_TOOLS']

// Loaded before every test file: a developer's own keys and settings must not change what a test sees.
for (const name of Object.keys(process.env)) {
  if (kept.includes(name)) continue
  if (name.endsWith('_API_KEY') || name === 'HF_TOKEN' || name.startsWith('WEIR_')) delete process.env[name]
}
