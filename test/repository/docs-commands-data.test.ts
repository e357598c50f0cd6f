import { testPages } from './support/docs-pages.ts'

testPages('docs-commands-data.test.ts')
