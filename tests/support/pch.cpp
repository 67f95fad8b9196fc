// The precompiled headers of all tests are made with this file.
