"""What hcat is made of: licences of the packages it runs on, their advisories, and a bill of materials."""
